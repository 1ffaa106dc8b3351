"""``actiondbg.attach()`` in a Python program that compiles with MLIR."""

from __future__ import annotations

import signal
from pathlib import Path

from actiondbg.recording import open_recording
from tests.tool.attachment.conftest import RunPython


def _output(python: RunPython, text: str) -> str:
    ended = python(text)
    assert (ended.returncode, ended.stderr) == (0, "")
    return ended.stdout


def test_the_actions_of_a_block(python: RunPython) -> None:
    shown = _output(
        python,
        """
import actiondbg
compile("builtin.module(cse)")
with actiondbg.attach() as actions:
    compile()
compile("builtin.module(cse)")
print([each.name for each in actions if each.tag == "pass-execution"])
first = actions.find("pattern:AddIAddConstant", outcome="changed")[0]
print(first.op, first.location, first.function, first.outcome, first.reasons)
print([(each.kind, each.op) for each in first.changes])
failed = actions.find("pattern:AddISubConstantRHS")[0]
print(failed.outcome, failed.reasons)
""",
    )
    assert shown.splitlines() == [
        "['canonicalize']",
        "arith.addi -:7:8 sum succeeded ()",
        "[('inserted', 'arith.constant'), ('inserted', 'arith.addi'), ('replaced', 'arith.addi'), "
        "('modified', 'func.return'), ('erased', 'arith.addi')]",
        'failed ("There\'s no operation that defines operand 0 of castedOp0",)',
    ]


def test_a_handler_is_called_once_at_the_end_of_a_worker(python: RunPython) -> None:
    done = python("""
import multiprocessing.util
import actiondbg
for _ in range(3):
    with actiondbg.attach(record="run.adbrec"):
        pass
registered = multiprocessing.util._finalizer_registry.values()
print([each._callback.__module__ for each in registered].count("actiondbg.attachment.attachment"))
""")
    assert done.stdout == "1\n"


def test_a_thread_that_has_recovered_takes_no_crash_of_another_back(
    python: RunPython, tmp_path: Path
) -> None:
    done = python("""
import ctypes, signal, threading, time
from mlir.ir import Context, Module
from mlir.passmanager import PassManager
import actiondbg

def compile():
    with Context():
        PassManager.parse("builtin.module(cse)").run(Module.parse("module {}").operation)

libc = ctypes.CDLL(None)
libc.signal.restype = ctypes.c_void_p
slow = ctypes.CFUNCTYPE(None, ctypes.c_int)(lambda number: time.sleep(2))
libc.signal(signal.SIGFPE, ctypes.cast(libc.abs, ctypes.c_void_p))
libc.signal(signal.SIGABRT, ctypes.cast(slow, ctypes.c_void_p))
actiondbg.attach(record="run.adbrec")
recovered = threading.Event()

def recover():
    compile()
    getattr(libc, "raise")(signal.SIGFPE)
    recovered.set()
    time.sleep(1)
    compile()

threading.Thread(target=recover).start()
recovered.wait()
libc.abort()
""")
    assert done.returncode == -signal.SIGABRT
    end = open_recording(tmp_path / "run.adbrec").ending
    assert (end.ended, end.signal) == ("crash", signal.SIGABRT)


def test_the_actions_so_far_are_known_within_the_block(python: RunPython) -> None:
    shown = _output(
        python,
        """
import actiondbg
with actiondbg.attach() as actions:
    print(len(actions))
    compile()
    before = len(actions)
    compile("builtin.module(cse)")
    print(before > 0, len(actions) > before)
print([each.name for each in actions.find("tag:pass-execution")])
""",
    )
    assert shown.splitlines() == ["0", "True True", "['canonicalize', 'cse']"]


def test_blocks_in_turn_are_recordings_of_their_own(python: RunPython, tmp_path: Path) -> None:
    _output(
        python,
        """
import actiondbg
for name in ("one", "two"):
    with actiondbg.attach(record=f"{name}.adbrec", ir="changed"):
        compile()
""",
    )
    one, two = (open_recording(tmp_path / f"{name}.adbrec") for name in ("one", "two"))
    columns = ["ordinal", "tag", "name", "operation", "op", "function", "line", "outcome", "reason"]
    assert one.table("actions", columns).equals(two.table("actions", columns))
    assert one.count > 10
    assert (one.ending.ended, one.cut) == ("exit", None)
    applied = one.table("actions", ["ordinal", "name", "changed"]).to_pylist()
    ordinal = next(
        each["ordinal"] for each in applied if each["name"] == "AddIAddConstant" and each["changed"]
    )
    assert any("arith.addi" in (each.before or "") for each in one.snapshots(ordinal))


def test_attaching_without_a_block_lasts_to_the_end(python: RunPython, tmp_path: Path) -> None:
    _output(python, "import actiondbg; actiondbg.attach(record='all.adbrec'); compile()")
    recording = open_recording(tmp_path / "all.adbrec")
    assert recording.count > 10
    assert recording.ending.ended == "exit"


def test_actions_of_all_threads(python: RunPython) -> None:
    shown = _output(
        python,
        """
import actiondbg, threading
for _ in range(2):
    with actiondbg.attach() as actions:
        threads = [threading.Thread(target=compile) for _ in range(3)]
        [each.start() for each in threads]
        [each.join() for each in threads]
        compile()
    passes = actions.find("pass:canonicalize")
    print(len(passes), len({each.thread for each in passes}), {each.outcome for each in passes})
""",
    )
    assert shown.splitlines() == ["4 4 {'succeeded'}"] * 2


def test_a_context_that_is_older_than_the_agent(python: RunPython) -> None:
    shown = _output(
        python,
        """
import actiondbg
from mlir.ir import Context, Module
from mlir.passmanager import PassManager
with Context():
    module = Module.parse(FOLDS)
    with actiondbg.attach() as actions:
        PassManager.parse("builtin.module(canonicalize)").run(module.operation)
print([each.name for each in actions.find("tag:pass-execution")])
print(len(actions.find("pattern:AddIAddConstant", outcome="changed")) > 0)
""",
    )
    assert shown.splitlines() == ["['canonicalize']", "True"]


def test_the_result_is_the_same_attached_or_not(python: RunPython) -> None:
    shown = _output(
        python,
        """
import actiondbg
bare = compile()
with actiondbg.attach():
    attached = compile()
print(bare == attached, "arith" in bare)
""",
    )
    assert shown == "True True\n"


def test_a_skipped_pattern(python: RunPython) -> None:
    shown = _output(
        python,
        """
import actiondbg
with actiondbg.attach(skip=["pattern:AddIAddConstant"]) as actions:
    print(compile().count("arith.addi"))
print({each.outcome for each in actions.find("pattern:AddIAddConstant")})
print(compile().count("arith.addi"))
""",
    )
    assert shown.splitlines() == ["4", "{'skipped'}", "2"]


def test_a_fork_is_not_observed(python: RunPython) -> None:
    shown = _output(
        python,
        """
import actiondbg, os
with actiondbg.attach() as actions:
    child = os.fork()
    compile()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
print(len(actions.find("pass:canonicalize")))
""",
    )
    assert shown == "1\n"


def test_nothing_is_lost_where_python_ends_itself(python: RunPython, tmp_path: Path) -> None:
    """An uncaught KeyboardInterrupt ends it by a signal, and a worker skips what others do."""
    text = "import actiondbg; actiondbg.attach(record='{}.adbrec'); compile()"
    interrupted = python(f"{text.format('interrupted')}; raise KeyboardInterrupt")
    assert interrupted.returncode == -signal.SIGINT
    worker = f"""
import multiprocessing
def work():
    {text.format("worker")}
started = multiprocessing.get_context("fork").Process(target=work)
started.start()
started.join()
"""
    _output(python, worker)
    for name in ("interrupted", "worker"):
        assert open_recording(tmp_path / f"{name}.adbrec").count > 10


def test_the_status_of_a_program_with_multiprocessing(python: RunPython, tmp_path: Path) -> None:
    ended = python(
        "import actiondbg, multiprocessing.util; actiondbg.attach(record='one.adbrec'); "
        "compile(); raise SystemExit(7)"
    )
    found = open_recording(tmp_path / "one.adbrec").ending
    assert (ended.returncode, found.ended, found.status) == (7, "exit", 7)


def test_a_second_attachment_is_refused(python: RunPython) -> None:
    ended = python("import actiondbg; one = actiondbg.attach(); actiondbg.attach()")
    assert ended.returncode == 1
    assert ended.stderr.splitlines()[-1] == (
        "actiondbg.errors.UsageError: This process is attached already: close the first "
        "attachment, or leave its block."
    )


def test_a_file_that_is_no_recording_is_kept(python: RunPython, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    ended = python("import actiondbg; actiondbg.attach(record='notes.txt')")
    assert "is not a recording and is not overwritten: name another file." in ended.stderr
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_ir_that_cannot_be_recorded_is_refused(python: RunPython) -> None:
    for call in (
        "attach(ir='all')",
        "recording.capture.recorder.record(['mlir-opt'], 'r', ir='all')",
    ):
        ended = python(f"import actiondbg.recording.capture.recorder; actiondbg.{call}")
        assert ended.stderr.splitlines()[-1] == (
            "actiondbg.errors.UsageError: There is no IR 'all' to record: choose among changed, "
            "function, pass, output, none."
        )


def test_one_skip_may_be_a_text(python: RunPython) -> None:
    shown = _output(
        python,
        """
import actiondbg
with actiondbg.attach(skip="pattern:AddIAddConstant") as actions:
    compile()
print({each.outcome for each in actions.find("pattern:AddIAddConstant")})
""",
    )
    assert shown == "{'skipped'}\n"


def test_no_file_is_left(python: RunPython, tmp_path: Path) -> None:
    shown = _output(
        python,
        """
import actiondbg, os
with actiondbg.attach() as actions:
    compile()
print(os.path.dirname(actions.path))
""",
    )
    assert not Path(shown.strip()).exists()
