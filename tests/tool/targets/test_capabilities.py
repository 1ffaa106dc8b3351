"""Each cell of the table in docs/tools.md: what a capability is for is done in the compiler.

Where a compiler lacks the capability, a sentence says why.
"""

from __future__ import annotations

import os
import re
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

import actiondbg
from actiondbg.errors import ActiondbgError, NoSuchUnit
from actiondbg.protocol.capabilities import CAPABILITIES
from actiondbg.recording import open_recording
from actiondbg.recording.capture.recorder import record
from tests.fakes import command_line
from tests.paths import INPUTS
from tests.tool.targets.scene import Scene, run_to_end, scene_of
from tests.tool.targets.table import COLUMNS, columns_of, kept
from tests.tool.targets.targets import TARGETS

# No pattern of a lowering to linalg takes it.
UNRANKED = """func.func @f(%a: !torch.vtensor) -> !torch.vtensor {
  %0 = torch.aten.tanh %a : !torch.vtensor -> !torch.vtensor
  return %0 : !torch.vtensor
}
"""


def _squeezed(text: str) -> str:
    """Return a text without the indentation of its lines."""
    return "\n".join(line.strip() for line in text.splitlines())


def _capabilities(session: actiondbg.Session) -> frozenset[str]:
    hello = session.target.hello
    assert hello is not None
    return frozenset(hello.capabilities)


def _interrupt(scene: Scene, directory: Path) -> None:
    with scene.launch(directory, scene.long(directory)) as session:
        session.start()
        threading.Timer(0.1, session.interrupt).start()
        stop = session.continue_()
        assert (stop.when, stop.reason) == ("before", "interrupt")
        assert run_to_end(session).status == 0


def _skip(scene: Scene, directory: Path) -> None:
    with scene.launch(directory) as session:
        scene.stop_at_pattern(session)
        stop = session.skip(step=True)
        assert stop.when == "after" and stop.skipped
        assert stop.outcome is not None and stop.outcome.result == "skipped"
        # Without it, Triton finds nothing to go on with.
        assert run_to_end(session).status in (0, 1)


def _print(scene: Scene, directory: Path) -> None:
    with scene.launch(directory) as session:
        stop = scene.stop_at_pattern(session)
        assert stop.op is not None
        marked = session.ir.print("function", mark=True)
        assert marked.mark is not None
        assert stop.op in marked.text.splitlines()[marked.mark[0] - 1]
        action = session.ir.print("action").text
        assert _squeezed(action) in _squeezed(marked.text)
        assert f'"{stop.op}"(' in session.ir.print("action", generic=True).text
        assert "loc(" in session.ir.print("action", locations=True).text


def _location(scene: Scene, directory: Path) -> None:
    wanted = scene.pattern
    with scene.launch(directory) as session:
        session.breakpoints.add(f"{Path(wanted['file']).name}:{wanted['line']}")
        stop = session.run()
        assert stop.location is not None
        assert stop.location.split(":")[-2] == str(wanted["line"])


def _cursor(scene: Scene, directory: Path) -> None:
    with scene.launch(directory) as session:
        stop = scene.stop_at_pattern(session)
        cursor = session.cursor
        here = cursor.get()
        assert here.unit.name == stop.op
        assert [cursor.parent().unit.kind for _ in range(2)] == ["block", "region"]
        assert cursor.child(0).unit.kind == "block"
        first = cursor.child(0)
        assert first.unit.kind == "operation"
        assert cursor.next().unit != first.unit
        assert cursor.previous().unit == first.unit
        assert cursor.module().unit.name == "builtin.module"
        assert cursor.move("action") == here
        users, definitions = cursor.users(), cursor.defs()
        for index, user in enumerate(users):
            assert cursor.move("user", index=index).unit == user
            cursor.move("action")
        for index, definition in enumerate(definitions):
            assert cursor.move("def", index=index).unit == definition
            cursor.move("action")
        assert cursor.goto(f"@{stop.id}") == here


def _outcomes(scene: Scene, directory: Path) -> None:
    with scene.launch(directory) as session:
        scene.stop_at_pattern(session)
        stop = session.next()
        assert stop.outcome is not None and stop.outcome.result == "succeeded"


def _changes(scene: Scene, directory: Path) -> None:
    wanted = scene.pattern
    with scene.launch(directory) as session:
        scene.stop_at_pattern(session)
        stop = session.next()
        kinds = [change.kind for change in stop.changes]
        for kind in ("inserted", "erased", "replaced", "modified", "moved"):
            assert kinds.count(kind) >= wanted[kind]
        assert kinds


def _folds(scene: Scene, directory: Path) -> None:
    wanted = scene.fold
    with scene.launch(directory) as session:
        session.breakpoints.add(f"fold:{wanted['op']}", outcome="succeeded")
        stop = session.run()
        assert (stop.when, stop.tag, stop.op) == ("after", "fold", wanted["op"])
        assert stop.outcome is not None and stop.outcome.how is not None


def _reasons(scene: Scene, directory: Path) -> None:
    wanted = scene.failure
    with scene.launch(directory) as session:
        session.breakpoints.add(f"pattern:{wanted['name']}", outcome="failed")
        stop = session.run()
        while not session.outcome.reasons:
            stop = session.continue_()
            assert stop.when == "after"


def _threads_off(scene: Scene, directory: Path) -> None:
    with scene.launch(directory) as session:
        scene.stop_at_pattern(session)
        threads = Path(f"/proc/{session.target.pid}/task").glob("*/comm")
        names = [file.read_text() for file in threads]
        assert names and not any(name.startswith("llvm-worker") for name in names)


def _ordinals_stable(scene: Scene, directory: Path) -> None:
    wanted = scene.pattern
    for _ in range(2):
        with scene.launch(directory) as session:
            session.breakpoints.add(f"#{wanted['ordinal']}")
            stop = session.run()
            if "ordinals-stable" in _capabilities(session):
                found = stop.ordinal, stop.name, stop.op
                assert found == (wanted["ordinal"], wanted["name"], wanted["op"])
    env = scene.target.env()
    alone = subprocess.run(scene.argv, capture_output=True, cwd=directory, env=env, check=True)
    result = actiondbg.bisect(
        scene.argv,
        lambda path: path.read_bytes() != alone.stdout,
        tag="pass-execution",
        # Most passes of Triton must run, and each trial is a start of Python.
        name="tritongpu-schedule-loops" if scene.target.name == "triton" else None,
        cwd=directory,
        env=env,
        output=directory / "bisected",
    )
    assert result.verdict == "found"


def _fork(scene: Scene, directory: Path) -> None:
    with scene.launch(directory) as session:
        stop = scene.stop_at_pattern(session)
        text = session.ir.print("function").text
        after = session.next()
        assert session.ir.print("function").text != text
        assert session.past.diff().unified()
        assert session.timeline.reverse_step().when in ("before", "after")
        back = session.timeline.goto(stop.ordinal)
        assert (back.ordinal, back.name, back.op) == (stop.ordinal, stop.name, stop.op)
        assert session.ir.print("function").text == text
        assert session.next().event == after.event
        assert run_to_end(session).status == 0


def _watch(scene: Scene, directory: Path) -> None:
    with scene.launch(directory) as session:
        scene.stop_at_pattern(session)
        session.breakpoints.delete([each.id for each in session.breakpoints.all()])
        session.breakpoints.watch("cursor")
        stop = session.continue_()
        assert stop.reason == "watch" and stop.culprit is not None


def _catch(scene: Scene, directory: Path) -> None:
    if scene.is_program:
        source = Path(scene.argv[1]).with_name("crash.py")
        with scene.launch(directory, [scene.argv[0], str(source)]) as session:
            stop = session.run()
            assert stop.is_crash and stop.message is not None and "SIGSEGV" in stop.message
        return
    once = "canonicalize{test-convergence=true max-iterations=1}"
    argv = [*scene.argv[:2], f"--pass-pipeline=builtin.module({once})"]
    with scene.launch(directory, argv) as session:
        session.breakpoints.catch("failure")
        stop = session.run()
        assert (stop.when, stop.reason, stop.name) == ("after", "catch", "canonicalize")
        assert run_to_end(session).status == 1


def _values(scene: Scene, directory: Path) -> None:
    with scene.launch(directory) as session:
        stop = scene.stop_at_pattern(session)
        session.ir.print("function").close()
        found = re.search(r"(%\w+)\S* = ", session.ir.print("action").text)
        assert found is not None
        session.cursor.function()
        assert session.cursor.goto(found[1]).unit.id == stop.id
        with pytest.raises(NoSuchUnit):
            session.cursor.goto("%no_such_value")


def _recorded(scene: Scene, directory: Path) -> None:
    assert {action["tag"] for action in scene.actions} >= {"pass-execution", "apply-pattern"}
    run = directory / "run.adbrec"
    done = record(
        scene.argv, run, ir="changed", stdout=os.devnull, cwd=directory, env=scene.target.env()
    )
    assert done.status == 0
    texts = open_recording(run).table("ir", ["text"]).to_pylist()
    assert any(scene.pattern["op"] in row["text"] for row in texts)


def _actiondbg(scene: Scene, directory: Path, *words: str) -> str:
    """Return what a command of actiondbg prints; its error is raised."""
    done = command_line.run(*words, cwd=directory, env=scene.target.env())
    if done.returncode:
        raise ActiondbgError(done.stderr or done.stdout)
    return done.stdout + done.stderr


def _at_pattern(scene: Scene, directory: Path, *commands: str) -> str:
    """Return what shell commands print at the stop before the pattern."""
    action = scene.pattern
    stop = f"break pattern:{action['name']} and op:{action['op']} if line == {action['line']}"
    lines = [stop, "run", *commands]
    words = ["-nx", "--batch", *(word for line in lines for word in ("-ex", line))]
    return _actiondbg(scene, directory, *words, "--tool-stdout", os.devnull, "--", *scene.argv)


def _lineage(scene: Scene, directory: Path) -> None:
    run = str(directory / "run.adbrec")
    _actiondbg(
        scene,
        directory,
        *("record", "--quiet", "--lineage", "-o", run, "--"),
        *scene.argv,
    )
    told = _actiondbg(scene, directory, "track", "--from", scene.pattern["op"], run)
    assert "became" in told


def _edit(scene: Scene, directory: Path) -> None:
    with scene.launch(directory) as session:
        session.breakpoints.add("pass:*")
        stop = session.run()
        if TABLE[scene.target.name, "fork"] is not None:
            # Until a second thread has run an action.
            while stop.status is None and "fork" in _capabilities(session):
                stop = session.continue_()
        session.edits.apply_pass("canonicalize")
        _add_constant(session)
        assert run_to_end(session).status == 0


def _add_constant(session: actiondbg.Session) -> None:
    """Edit the module: double its first constant."""
    session.cursor.module()
    text = session.edits.text("module").text
    constant = re.compile(r"^( *)%\S+ = (\S*constant\b.*)$", re.MULTILINE)
    edited = constant.sub(r"\1%added = \2\n\g<0>", text, count=1)
    assert session.edits.apply(edited, "module") is not None
    count = len(constant.findall(session.ir.print("module").text))
    assert count == len(constant.findall(text)) + 1


def _legalizations(scene: Scene, directory: Path) -> None:
    tool, *_ = scene.argv
    if scene.target.inputs == "mlir":
        source = str(INPUTS / "tools" / "mlir" / "spirv.mlir")
        words = (tool, source, "--convert-arith-to-spirv")
        told = _actiondbg(scene, directory, "explain", "--", *words)
        assert "mlir::SPIRVTypeConverter does not convert" in told
    elif scene.target.inputs in ("iree", "torch"):
        (directory / "tanh.mlir").write_text(UNRANKED)
        words = (tool, "tanh.mlir", "--convert-torch-to-linalg")
        told = _actiondbg(scene, directory, "explain", "--", *words)
        assert re.search(r"^@\d+ torch.aten.tanh at tanh.mlir:2:8 was not legalized", told)
        assert "the target marks it illegal" in told
    else:
        told = _actiondbg(
            scene,
            directory,
            *("-nx", "--batch", "-ex", "set skip pattern:*LoadOpConversion*", "-ex", "run"),
            *("-ex", "explain", "--tool-stdout", os.devnull, "--", *scene.argv),
        )
        assert re.search(r"^@\d+ \S+load at .* was not legalized", told, re.MULTILINE)
        assert "the target marks it illegal" in told


def _alternatives(scene: Scene, directory: Path) -> None:
    name = scene.pattern["name"]
    # The conversions of a program have ordered their patterns at this stop.
    side = "off" if scene.is_program else "on"
    told = _at_pattern(scene, directory, f"whatif pattern:{name} {side}")
    assert f"pattern:{name} {side}" in told


def _statistics(scene: Scene, directory: Path) -> None:
    name = scene.pattern["name"]
    told = _actiondbg(scene, directory, "stat", "--limit", "0", "--", *scene.argv)
    assert re.search(rf"^ *\d.* apply-pattern \({re.escape(name)}\)$", told, re.MULTILINE)


DEEDS: dict[str, Callable[[Scene, Path], None]] = {
    "interrupt": _interrupt,
    "skip": _skip,
    "print": _print,
    "location": _location,
    "cursor": _cursor,
    "outcomes": _outcomes,
    "changes": _changes,
    "folds": _folds,
    "reasons": _reasons,
    "threads-off": _threads_off,
    "ordinals-stable": _ordinals_stable,
    "fork": _fork,
    "watch": _watch,
    "catch": _catch,
    "values": _values,
    "record": _recorded,
    "lineage": _lineage,
    "edit": _edit,
    "legalizations": _legalizations,
    "alternatives": _alternatives,
    "statistics": _statistics,
}

# What commands of a capability need, too.
NEEDED = {"edit": ["fork"], "legalizations": ["fork"], "alternatives": ["fork"]}
TABLE = {
    (name, capability): reason
    for name, column in zip(COLUMNS, columns_of(kept()), strict=True)
    for capability, reason in column.missing.items()
}


@pytest.mark.parametrize(
    ("name", "capability"),
    [
        pytest.param(name, capability, id=f"{name}-{capability}", marks=TARGETS[name].marks)
        for name, capability in TABLE
    ],
)
def test_a_cell(name: str, capability: str, tmp_path: Path) -> None:
    scene = scene_of(name)
    if all(TABLE[name, each] is None for each in {capability, *NEEDED.get(capability, ())}):
        DEEDS[capability](scene, tmp_path)
        return
    with pytest.raises(ActiondbgError) as refused:
        DEEDS[capability](scene, tmp_path)
    *_, sentence = str(refused.value).strip().splitlines()
    # One that lacks several gives the reason of the first that it needs.
    reasons = {TABLE[name, each] for each in CAPABILITIES} - {None}
    assert any(reason in sentence for reason in reasons if reason is not None)


def test_each_capability_is_tested() -> None:
    assert CAPABILITIES.keys() == DEEDS.keys()
