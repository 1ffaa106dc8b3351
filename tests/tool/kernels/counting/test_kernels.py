"""``actiondbg kernels count`` of programs that call kernels of a shared library."""

from __future__ import annotations

import csv
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from errno import EPERM
from pathlib import Path
from typing import Any

import pytest

from actiondbg.kernels.counting.measurement import read_calls
from actiondbg.kernels.counting.program import count_calls, counting_library
from actiondbg.statistics.event_probe import try_event
from actiondbg.statistics.events import KNOWN
from actiondbg.tool.compiler import find_c_compiler
from tests.fakes.privileges import filtered, unprivileged
from tests.paths import COMMAND
from tests.processes import children, wait_until

SOURCE = Path(__file__).parent / "kernels.c"
COUNT = [COMMAND, "kernels", "count"]
HAS_EVENTS = try_event(KNOWN["page-faults"]).counted is not None
HEAD = """\
import ctypes, os, sys
kernels = ctypes.CDLL(sys.argv[1])
def kernel(name, result=None, *arguments):
    found = getattr(kernels, "_mlir_ciface_" + name)
    found.restype, found.argtypes = result, arguments
    return found
nothing = kernel("nothing")
"""

Count = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The shared library of the kernels."""
    library = tmp_path_factory.mktemp("kernels") / "kernel.so"
    command = [*find_c_compiler(), "-D_GNU_SOURCE", "-O1", "-shared", "-fPIC"]
    options = ["-Wno-psabi", "-pthread", "-o", str(library)]
    subprocess.run([*command, str(SOURCE), *options], check=True)
    return library


@pytest.fixture
def count(kernels: Path, tmp_path: Path) -> Count:
    """A function that counts the calls of a Python program."""

    def run(code: str, *options: str, **settings: Any) -> subprocess.CompletedProcess[str]:
        program = tmp_path / "program.py"
        program.write_text(HEAD + code)
        command = [*COUNT, *options, "--", sys.executable, str(program), str(kernels)]
        return subprocess.run(
            command, capture_output=True, text=True, timeout=120, cwd=tmp_path, **settings
        )

    return run


def cost(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """Return what --json printed."""
    return json.loads(done.stderr.splitlines()[-1])


def calls_of(done: subprocess.CompletedProcess[str]) -> dict[str, int]:
    return {one["name"]: one["calls"] for one in cost(done)["functions"]}


def test_calls_of_kernels(count: Count) -> None:
    done = count("for i in range(100): nothing()\nprint('output')")
    assert (done.returncode, done.stdout) == (0, "output\n")
    lines = done.stderr.splitlines()
    assert lines[0].startswith("100 calls of 1 function in 1 thread: ")
    assert any(line.endswith("  nothing") for line in lines)
    assert "Means of the quantile buckets, each column in its own order:" in lines


MANY = """\
from ctypes import POINTER, Structure, c_double, c_float, c_long, byref
class Pair(Structure): _fields_ = [("first", c_long), ("second", c_double)]
class Large(Structure): _fields_ = [("values", c_long * 5)]
class Vector(Structure):
    _fields_ = [("base", POINTER(c_float)), ("data", POINTER(c_float)), ("offset", c_long),
                ("sizes", c_long * 1), ("strides", c_long * 1)]
def vector(*values):
    data = (c_float * len(values))(*values)
    return Vector(data, data, 0, (c_long * 1)(len(values)), (c_long * 1)(1)), data
for _ in range(3):
    many = kernel("many", c_double, *[c_long] * 8, *[c_double] * 9, c_float)
    print(many(*range(1, 9), *[i / 8 for i in range(9)], 0.25))
    pair = kernel("pair", Pair, c_long, c_double)(41, 1.5)
    print(pair.first, pair.second)
    print(list(kernel("large", Large, c_long)(3).values))
    (a, _), (b, data) = vector(1, 2, 3), vector(0, 0, 0)
    kernel("scale", None, POINTER(Vector), c_float, POINTER(Vector))(byref(a), 1.5, byref(b))
    print(list(data))
    if kernels.has_avx():
        kernels.call_wide.restype = c_float
        print(kernels.call_wide(kernel("wide")))
"""


def test_arguments_and_results_are_those_without(count: Count, kernels: Path) -> None:
    done = count(MANY, "--json")
    program = [sys.executable, "program.py", str(kernels)]
    bare = subprocess.run(
        program, capture_output=True, text=True, cwd=Path(done.args[-2]).parent, check=True
    )
    assert done.returncode == 0 and done.stdout == bare.stdout
    found = calls_of(done)
    assert found.pop("wide", 3) == 3
    assert found == {"many": 3, "pair": 3, "large": 3, "scale": 3}


@pytest.mark.skipif(not HAS_EVENTS, reason="the kernel does not let us count software events")
def test_events_of_a_call(count: Count) -> None:
    """A megabyte that is touched for the first time has 256 pages."""
    code = MANY.split("for _")[0] + (
        "a, data = vector(1, 2)\n"
        "touch = kernel('touch', None, POINTER(Vector))\n"
        "for i in range(5): touch(byref(a)); nothing()\n"
    )
    done = count(code, "--json", "--events", "page-faults,task-clock", "--name", "touch")
    found = cost(done)
    assert found["events"] == ["page-faults", "task-clock"]
    (touch,) = found["functions"]
    assert touch["calls"] == 5
    assert touch["events"]["page-faults"]["per_call"] > 200
    assert 0 < touch["events"]["task-clock"]["total"] <= 2 * touch["duration_ns"]
    nothing = cost(count(code, "--json", "--events", "page-faults", "--name", "nothing"))
    assert nothing["functions"][0]["events"]["page-faults"]["total"] <= 5


def test_a_machine_that_lets_nobody_count(kernels: Path, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(HEAD + "for i in range(5): nothing()\n")
    words = [sys.executable, str(program), str(kernels)]
    done = filtered(EPERM, *COUNT, "--json", "--", *words)
    assert done.returncode == 0
    found = cost(done)
    assert (found["calls"], found["events"]) == (5, [])
    (note,) = found["notes"]
    assert note.startswith("No events are counted: perf_event_open is refused (EPERM)")
    # The library alone.
    hook = [
        "/usr/bin/env",
        f"LD_PRELOAD={counting_library()}",
        "IREE_HOOK_PERF_EVENT_TYPES=page-faults",
    ]
    done = filtered(EPERM, *hook, *words)
    assert done.returncode == 0
    assert "Note: 'page-faults' could not be counted (permission denied)." in done.stderr
    assert "Thread " in done.stderr


def test_a_machine_that_excludes_the_kernel(kernels: Path, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(HEAD + "for i in range(5): nothing()\n")
    words = [sys.executable, str(program), str(kernels)]
    events = ["--events", "page-faults,context-switches"]
    found = cost(unprivileged(*COUNT, "--json", *events, "--", *words))
    assert found["events"] == ["page-faults:u"]
    (note,) = found["notes"]
    assert note.startswith("'context-switches' is not counted: ")


def test_kernels_in_kernels(count: Count) -> None:
    """Deeper than the library keeps track of."""
    code = """\
from ctypes import c_long, c_void_p, cast
nested = kernel("nested", c_long, c_long, c_void_p)
print([nested(depth, cast(nested, c_void_p)) for depth in (0, 3, 40, 3)])
"""
    done = count(code, "--json")
    assert done.stdout == "[0, 3, 40, 3]\n"
    assert calls_of(done) == {"nested": 1 + 4 + 16 + 4}


def test_threads_and_csv(count: Count, tmp_path: Path) -> None:
    code = "kernels.call_in_threads(nothing, 50, b'left', b'ri ght')\nnothing()"
    done = count(code, "--json", "--by-thread", "--events", "none", "--csv", "csv")
    found = cost(done)
    numbers = {one["name"]: one["calls"] for one in found["threads"]}
    assert numbers.pop("left") == numbers.pop("ri ght") == 50 and [*numbers.values()] == [1]
    assert sorted(one["calls"] for one in found["statistics"]) == [1, 50, 50]
    (path,) = (tmp_path / "csv").glob("*-left.csv")
    with path.open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 50
    assert {row["dispatch"] for row in rows} == {"nothing"}
    assert {row["library"] for row in rows} == {"kernel.so"}
    starts = [int(row["start_ns"]) for row in rows]
    assert starts == sorted(starts)
    assert len(list((tmp_path / "csv").iterdir())) == 3 + 1


def test_calls_in_python(kernels: Path, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(HEAD + "for i in range(6): nothing()\nsys.exit(4)")
    status, calls = count_calls([sys.executable, str(program), str(kernels)], ["none"])
    assert (status, calls.size, calls.events) == (4, 6, {})
    assert (calls.duration > 0).all()


def test_a_crash_within_a_kernel_keeps_the_calls_before(count: Count) -> None:
    done = count("for i in range(9): nothing()\nkernel('crash')()", "--json")
    assert done.returncode == 128 + signal.SIGSEGV
    assert "actiondbg: The program was killed by SIGSEGV." in done.stderr
    found = cost(done)
    assert [(one["name"], one["calls"]) for one in found["functions"]] == [("nothing", 9)]
    assert any("ended within a call of crash, in thread" in note for note in found["notes"])


def test_a_kernel_that_ends_the_program(count: Count) -> None:
    done = count("nothing()\nkernel('leave')()", "--json")
    assert done.returncode == 7
    assert calls_of(done) == {"nothing": 1}


def test_a_killed_program_keeps_its_calls(kernels: Path, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        HEAD + "for i in range(5): nothing()\nprint(os.getpid(), flush=True)\nkernel('hang')()\n"
    )
    command = [*COUNT, "--json", "--", sys.executable, str(program), str(kernels)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout and process.stderr
        os.kill(int(process.stdout.readline()), signal.SIGKILL)
        errors = process.stderr.read()
    assert process.returncode == 128 + signal.SIGKILL
    assert json.loads(errors.splitlines()[-1])["functions"][0]["calls"] == 5


def test_forks_and_programs_that_replace_themselves(count: Count) -> None:
    code = """\
for i in range(3): nothing()
child = os.fork()
for i in range(5): nothing()
if not child:
    nothing()
    if len(sys.argv) == 2:
        os.execv(sys.executable, [sys.executable, sys.argv[0], sys.argv[1], "again"])
    os._exit(0)
os.waitpid(child, 0)
"""
    found = cost(count(code, "--json"))
    assert found["functions"][0]["calls"] == 3 + 5 + 6 + (3 + 5 + 6)
    assert len({(one["process"], one["number"]) for one in found["threads"]}) == 3


def test_a_fork_within_a_kernel(count: Count) -> None:
    code = """\
nothing()
child = kernel("fork", ctypes.c_long)()
nothing()
if not child:
    os._exit(0)
os.waitpid(child, 0)
"""
    done = count(code, "--json")
    assert done.returncode == 0
    # The call of fork belongs to the parent.
    assert calls_of(done) == {"nothing": 3, "fork": 1}


def test_programs_of_scripts_are_followed(kernels: Path, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(HEAD + "nothing()\n")
    script = f"{sys.executable} program.py {kernels}; env {sys.executable} program.py {kernels}"
    done = subprocess.run(
        [*COUNT, "--json", "--", "bash", "-c", script], capture_output=True, text=True, cwd=tmp_path
    )
    assert calls_of(done) == {"nothing": 2}
    assert len(cost(done)["threads"]) == 2


def test_the_preload_of_the_user_is_kept(count: Count) -> None:
    other = "/lib/x86_64-linux-gnu/libdl.so.2"
    if not os.path.exists(other):
        pytest.skip(f"there is no {other} to preload")
    code = "nothing()\nprint(os.environ['LD_PRELOAD'])"
    done = count(code, "--json", env={**os.environ, "LD_PRELOAD": other})
    assert done.stdout == f"{other}:{counting_library()}\n"
    assert calls_of(done) == {"nothing": 1}


def test_lookups_of_the_next_library_find_it(tmp_path: Path) -> None:
    """dlsym(RTLD_NEXT) depends on its caller, which stays the program's library."""
    (tmp_path / "next.c").write_text(
        "#include <dlfcn.h>\n#include <stddef.h>\n"
        "int puts(const char *text) { return ((int (*)(const char *))"
        'dlsym(RTLD_NEXT, "puts"))(text) + 0 * text[0]; }\n'
    )
    (tmp_path / "main.c").write_text(
        '#include <stdio.h>\nint main(void) { return puts("found") < 0; }\n'
    )
    compiler = find_c_compiler()
    for arguments in (
        ["-D_GNU_SOURCE", "-shared", "-fPIC", "next.c", "-o", "libnext.so", "-ldl"],
        ["-fno-builtin", "main.c", "-o", "main", "-L.", "-lnext", "-Wl,-rpath,$ORIGIN"],
    ):
        subprocess.run([*compiler, *arguments], cwd=tmp_path, check=True)
    done = subprocess.run(
        [tmp_path / "main"],
        env={**os.environ, "LD_PRELOAD": str(counting_library())},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "found\n", "")


def test_counts_are_kept_and_read_again(count: Count, tmp_path: Path) -> None:
    done = count("for i in range(20): nothing()", "--keep", "kept", "--no-tables")
    again = subprocess.run(
        [*COUNT, "--no-tables", "kept"], capture_output=True, text=True, cwd=tmp_path
    )
    assert (again.returncode, again.stderr) == (0, "")
    title, *lines = again.stdout.splitlines()
    assert title == "20 calls of 1 function in 1 thread: kept"
    notes = [line for line in done.stderr.splitlines()[1:] if not line.startswith("Note: ")]
    assert lines == notes
    refused = count("nothing()", "--keep", "kept")
    assert refused.returncode == 2 and "'kept' is not empty: name a new folder" in refused.stderr


def test_the_library_alone_understands_the_variables(kernels: Path, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(HEAD + "for i in range(40): nothing(); kernel('pair')()\nprint('output')")
    library = subprocess.run([*COUNT, "--print-library"], capture_output=True, text=True)
    variables = {
        "LD_PRELOAD": library.stdout.strip(),
        "IREE_HOOK_FILTER_NAME": "nothing",
        "IREE_HOOK_PERF_EVENT_TYPES": "faults,page-fault,task-clock:u,cs",
        "IREE_HOOK_OUTPUT_CSV": str(tmp_path),
        "IREE_HOOK_BUCKET_COUNT": "4",
        "IREE_HOOK_NO_PROBABILITY_TABLE": "",
    }
    done = subprocess.run(
        [sys.executable, str(program), str(kernels)],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.returncode, done.stdout) == (0, "output\n")
    assert "actiondbg: There is no event 'page-fault'" in done.stderr
    counted = re.search(
        r"40 calls of 1 function in 1 thread: (/tmp/actiondbg-calls-\S+)", done.stderr
    )
    assert counted
    assert "Thread " in done.stderr and "P(bucket" not in done.stderr
    if HAS_EVENTS:
        assert "bucket  duration  faults  task-clock:u  cs" in done.stderr
    assert len(list(tmp_path.glob("calls-*.csv"))) == 1
    assert not Path(counted[1]).exists()


LIBRARY = """\
def load(version=6, name=1, count=3, table=None):
    kernels.set_library(version, name, count, ctypes.c_void_p(table))
    return kernels["iree_hal_executable_library_query"]
"""


@pytest.mark.parametrize(
    ("version", "names"),
    [
        (6, {"first_dispatch": 10, "second_dispatch": 10}),
        # An unknown version: the pointers are where they have always been, not so the names.
        (9, {"model:0": 10, "model:1": 10}),
    ],
)
def test_dispatches_of_a_library(count: Count, version: int, names: dict[str, int]) -> None:
    code = f"load({version})\nload({version})\nprint(kernels.call_dispatches(10))"
    done = count(LIBRARY + code, "--json")
    assert done.stdout == f"{45 + 30 + 45}\n"
    assert calls_of(done) == names


@pytest.mark.parametrize(
    ("arguments", "note"),
    [
        ("99", "A library of IREE has an unknown version, its calls were not counted."),
        ("6, None", "A library of IREE has an unknown table, its calls were not counted."),
        ("6, 1, 1 << 30", "A library of IREE has an unknown table, its calls were not counted."),
        ("6, 1, 3, 64", "The table of a library could not be read: model."),
    ],
)
def test_a_library_that_is_not_understood_is_left_alone(
    count: Count, arguments: str, note: str
) -> None:
    code = f"nothing()\nload({arguments})\nload()\nload(99)\nprint(kernels.has_avx() >= 0)"
    done = count(LIBRARY + code, "--json")
    assert done.returncode == 0 and done.stdout == "True\n"
    assert note in cost(done)["notes"]
    assert "nothing" in calls_of(done)


def test_memory_that_is_like_a_library_is_left_alone(count: Count) -> None:
    """A loader maps a header, then code; here, what follows the header is of any value."""
    code = """\
import mmap, random
libc = ctypes.CDLL(None)
READ, WRITE, EXECUTE = 1, 2, 4
generator = random.Random(5)
for _ in range(300):
    memory = mmap.mmap(-1, 4 * 4096)
    header = b"\\x7fELF\\2\\1\\1".ljust(16, b"\\0") + b"\\3\\0\\x3e\\0"
    header += bytes(generator.choice((0, 1, 2, 64, 255)) for _ in range(400))
    memory[: len(header)] = header
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    assert libc.mprotect(ctypes.c_void_p(address), 4096, READ) == 0
    code = ctypes.c_void_p(address + 4096)
    assert libc.mprotect(code, 4096, READ | EXECUTE) == 0
nothing()
print("done")
"""
    done = count(code, "--json")
    assert (done.returncode, done.stdout) == (0, "done\n")


@pytest.mark.skipif(not HAS_EVENTS, reason="the kernel does not let us count software events")
def test_a_program_that_closes_all_files(count: Count) -> None:
    code = "for i in range(4): nothing()\nos.closerange(3, 4096)\nnothing()\nprint('done')"
    done = count(code, "--json", "--events", "page-faults")
    assert (done.returncode, done.stdout) == (0, "done\n")
    assert calls_of(done) == {"nothing": 4}
    assert (
        "The calls of a thread were counted until its counters were closed." in cost(done)["notes"]
    )


def test_a_folder_that_disappears(count: Count) -> None:
    code = "import shutil\nshutil.rmtree(os.environ['ACTIONDBG_CALLS_DIRECTORY'])\nnothing()"
    done = count(code.replace("nothing()", "kernel('pair')()"), "--json")
    assert done.returncode == 1
    done = count("os.environ.clear()\nfor i in range(3): nothing()", "--json")
    assert calls_of(done) == {"nothing": 3}


def test_a_program_without_kernels_is_left_alone(tmp_path: Path) -> None:
    done = subprocess.run(
        ["/bin/echo", "hello"],
        env={**os.environ, "LD_PRELOAD": str(counting_library())},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "hello\n", "")


def test_the_list_of_events(tmp_path: Path) -> None:
    variables = {"LD_PRELOAD": str(counting_library()), "IREE_HOOK_LIST_EVENT_TYPES": "1"}
    done = subprocess.run(
        ["/bin/echo", "hello"], env={**os.environ, **variables}, capture_output=True, text=True
    )
    assert done.stdout == "" and "page-faults" in done.stderr.splitlines()
    listed = subprocess.run([*COUNT, "--list-events"], capture_output=True, text=True)
    assert [line.split()[0] for line in listed.stdout.splitlines()] == done.stderr.splitlines()


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ([], 2, "the program is missing: actiondbg kernels count [options] -- PROGRAM ARGS..."),
        (["--", "no-such-program"], 3, "There is no program 'no-such-program': check its name"),
        (["--events", "page-fault", "--", "true"], 2, "There is no event 'page-fault': did you"),
        (["--", "true"], 1, "No function was counted: the program loaded no module of IREE and"),
        (["--", "false"], 1, "No function was counted: the program loaded no module of IREE and"),
        (["/"], 2, "'/' has no counts: name a folder of --keep, or a program after '--'."),
        (["--csv", "/proc/x", "--", "true"], 2, "'/proc/x' cannot be created ("),
        (["--gamma", "0", "--", "true"], 2, "argument --gamma: '0' is not a positive number"),
        (["--name", "[", "--", "true"], 2, "The [ in '[' is not closed"),
        (["-o", "/nowhere/x", "--", "true"], 2, "'/nowhere/x' cannot be written"),
    ],
)
def test_wrong_command_lines(arguments: list[str], code: int, message: str, tmp_path: Path) -> None:
    done = subprocess.run([*COUNT, *arguments], capture_output=True, text=True, cwd=tmp_path)
    assert message in done.stderr
    assert (done.returncode, done.stdout) == (code, "")


def test_a_name_without_a_function(count: Count) -> None:
    done = count("nothing(); kernel('pair')", "--name", "sum*")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        "actiondbg: No function matches 'sum*': the program has nothing, pair."
    )
    done = count("kernel('pair')")
    assert "No function was called: the program loaded nothing, pair." in done.stderr


def test_an_interrupt_ends_the_program_and_keeps_the_calls(kernels: Path, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(HEAD + "nothing()\nprint('ready', flush=True)\nkernel('hang')()\n")
    command = [*COUNT, "--json", "--", sys.executable, str(program), str(kernels)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, process_group=0
    ) as process:
        assert process.stdout and process.stderr
        assert process.stdout.readline() == "ready\n"
        wait_until(lambda: children(process.pid))
        os.killpg(process.pid, signal.SIGINT)
        errors = process.stderr.read()
    assert process.returncode != 0
    assert json.loads(errors.splitlines()[-1])["threads"][0]["calls"] >= 1


def test_the_end_of_the_command_ends_the_program(kernels: Path, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(HEAD + "nothing()\nprint(os.getpid(), flush=True)\nkernel('hang')()\n")
    command = [*COUNT, "--", sys.executable, str(program), str(kernels)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout and process.stderr
        program_id = int(process.stdout.readline())
        process.terminate()
        process.stderr.read()
    assert process.returncode == 128 + signal.SIGTERM
    assert not Path(f"/proc/{program_id}").exists()


def test_the_files_are_those_that_unit_tests_read(count: Count, tmp_path: Path) -> None:
    """tests/fakes/counts.py writes the same format."""
    from tests.fakes.counts import write_process, write_thread

    count("nothing(); kernel('pair')(); nothing()", "--keep", "kept", "--events", "none")
    real = tmp_path / "kept"
    calls = read_calls(real)
    (thread,) = calls.threads
    process = next(real.glob("*.names")).stem
    fake = tmp_path / "fake"
    fake.mkdir()
    write_process(fake, process, ["nothing", "pair"], [])
    names = (fake / f"{process}.names").read_text().replace("\tmodel\t", "\tkernel.so\t")
    assert (real / f"{process}.names").read_text() == names
    (path,) = real.glob("*.calls")
    content = path.read_bytes()
    start = int.from_bytes(content[4096:4104], "little")
    rows = [
        (start + int(begin), int(duration), int(function), int(cpu))
        for begin, duration, function, cpu in zip(
            calls.start, calls.duration, calls.function, calls.cpu, strict=True
        )
    ]
    made = write_thread(fake, rows, process, thread.number, thread.name, mask=0)
    assert made.name == path.name
    used = 4096 + 24 * len(rows)
    assert made.read_bytes()[:used] == content[:used]


def test_the_library_is_printed_where_the_environment_asks_for_the_events() -> None:
    environment = {**os.environ, "IREE_HOOK_LIST_EVENT_TYPES": "1"}
    shown = subprocess.run(
        [*COUNT, "--print-library"], capture_output=True, text=True, env=environment, check=True
    )
    (library,) = shown.stdout.splitlines()
    assert Path(library).is_file()
