"""The room of the agent that changes functions which are not exported."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from actiondbg.tool import find_tool
from actiondbg.tool.agent_compilation import FLAGS, include_flags
from actiondbg.tool.compiler import find_c_compiler, find_compiler
from actiondbg.tool.shipped import AGENT_SOURCE

SOURCES = Path(__file__).parent / "detour"
needs_x86 = pytest.mark.skipif(
    platform.machine() != "x86_64", reason="the functions are written for x86-64"
)

needs_aarch64 = pytest.mark.skipif(
    not (shutil.which("aarch64-linux-gnu-g++") and shutil.which("qemu-aarch64-static")),
    reason="no compiler and emulator for aarch64 (g++-aarch64-linux-gnu, qemu-user-static)",
)
EMULATOR = ["qemu-aarch64-static", "-L", "/usr/aarch64-linux-gnu"]


def compiled(name: str, directory: Path) -> Path:
    built = directory / name
    options = ["-std=c++20", "-O1", *include_flags(), "-ldl"]
    command = [*find_compiler(), str(SOURCES / f"{name}.cpp"), "-o", str(built), *options]
    subprocess.run(command, check=True)
    return built


@pytest.fixture(scope="module")
def detours(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Return the program and the library that it detours functions of."""
    directory = tmp_path_factory.mktemp("detours")
    library = directory / "targets.so"
    command = [*find_c_compiler(), "-O1", "-shared", "-fPIC", str(SOURCES / "targets.c")]
    subprocess.run([*command, "-o", str(library)], check=True)
    return [compiled("detours", directory), library]


def _outputs(command: list[Path | str], environment: dict[str, str] | None = None) -> list[str]:
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


@needs_x86
def test_hidden_functions_are_detoured(detours: list[Path]) -> None:
    assert _outputs([*detours]) == [
        "_Zrelative: 7 -5 7",
        "_Zcompare: 6 -5 6",
        "_Zbranch: 7 -5 7",
        "_Zjump: 7 -5 -5",  # to a function that is detoured itself
        "_Zcall: 7 -5 -5",
        "_Zshort: 7 -5 7",
        "_Zback: it jumps back to its first instructions",
        "_Zloop: its first instructions have a branch without a long form",
        "_Ztiny: it is too short",
        "_Zplain: 7 -5 7",
    ]


@pytest.fixture(scope="module")
def detours_on_aarch64(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("detours") / "detours"
    words = ["-std=c++20", "-O1", *include_flags(), "-ldl", "-o", str(program)]
    subprocess.run(["aarch64-linux-gnu-g++", SOURCES / "detours.cpp", *words], check=True)
    return program


def _outputs_on_aarch64(program: Path, directory: Path, source: str, *options: str) -> list[str]:
    library = directory / "targets.so"
    shared = [*options, "-O1", "-shared", "-fPIC", "-o", str(library)]
    subprocess.run(["aarch64-linux-gnu-gcc", SOURCES / source, *shared], check=True)
    return _outputs([*EMULATOR, program, library])


@needs_aarch64
def test_functions_of_guarded_pages_are_detoured_on_aarch64(
    detours_on_aarch64: Path, tmp_path: Path
) -> None:
    options = ["-mbranch-protection=bti", "-nostdlib", "-Wl,-z,force-bti"]
    outputs = _outputs_on_aarch64(detours_on_aarch64, tmp_path, "guarded.c", *options)
    assert outputs == ["_Zguarded: 7 -5 7"]


@needs_aarch64
@pytest.mark.parametrize("size", [[], ["-DHUGE"]], ids=["near", "far"])
def test_hidden_functions_are_detoured_on_aarch64(
    detours_on_aarch64: Path, tmp_path: Path, size: list[str]
) -> None:
    assert _outputs_on_aarch64(detours_on_aarch64, tmp_path, "targets.c", *size) == [
        "_Zrelative: 7 -5 7",
        "_Zcompare: 7 -5 7",
        "_Zbranch: 7 -5 7",
        "_Zjump: 7 -5 -5",
        "_Zcall: 7 -5 7",
        "_Zshort: 7 -5 7",
        "_Zback: it jumps back to its first instructions",
        "_Zloop: it jumps back to its first instructions",
        "_Ztiny: it jumps back to its first instructions",
        "_Zplain: 7 -5 7",
    ]


@needs_x86
def test_symbols_are_found_in_the_cache(detours: list[Path], tmp_path: Path) -> None:
    program, _ = detours
    named = tmp_path / "named.so"
    command = [*find_c_compiler(), "-O1", "-shared", "-fPIC", str(SOURCES / "targets.c")]
    subprocess.run([*command, "-Wl,--build-id=0x0123456789abcdef", "-o", str(named)], check=True)
    environment = {"ACTIONDBG_CACHE": str(tmp_path)}
    first = _outputs([program, named], environment)
    (kept,) = tmp_path.glob("symbols-*")
    key = f"0123456789abcdef-{named.stat().st_size}"
    assert re.fullmatch(rf"symbols-{key}-[0-9a-f]{{16}}", kept.name)
    places = kept.read_bytes()
    # A file that was cut off, or lost what it held, is written anew.
    for damaged in (places[:-1], bytes(len(places)), places[:99] + b"?" + places[100:]):
        kept.write_bytes(damaged)
        assert _outputs([program, named], environment) == first
        assert kept.read_bytes() == places
    # A stripped copy, which has the same build id, has places of its own.
    stripped = tmp_path / "stripped.so"
    subprocess.run(["strip", "-o", str(stripped), str(named)], check=True)
    assert _outputs([program, stripped], environment) != first
    # Found again, without the file's own table: it has no sections.
    with named.open("r+b") as file:
        file.seek(60)  # e_shnum
        file.write(b"\0\0")
    assert _outputs([program, named], environment) == first
    assert len(list(tmp_path.glob("symbols-*"))) == 2


@needs_x86
@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_cache_that_others_may_write_is_not_read(
    detours: list[Path], tmp_path: Path, mode: int
) -> None:
    program, _ = detours
    named = tmp_path / "named.so"
    command = [*find_c_compiler(), "-O1", "-shared", "-fPIC", str(SOURCES / "targets.c")]
    subprocess.run([*command, "-Wl,--build-id=0x0123456789abcdef", "-o", str(named)], check=True)
    environment = {"ACTIONDBG_CACHE": str(tmp_path)}
    first = _outputs([program, named], environment)
    (kept,) = tmp_path.glob("symbols-*")
    places = kept.read_bytes()
    stripped = tmp_path / "stripped.so"
    subprocess.run(["strip", "-o", str(stripped), str(named)], check=True)
    _outputs([program, stripped], environment)
    (other,) = set(tmp_path.glob("symbols-*")) - {kept}
    kept.write_bytes(other.read_bytes())  # hidden functions are nowhere
    assert _outputs([program, named], environment) != first, "a cache of one's own is read"
    kept.chmod(mode)
    assert _outputs([program, named], environment) == first
    assert kept.read_bytes() == places
    assert not kept.stat().st_mode & 0o022
    if os.geteuid() == 0:
        kept.write_bytes(other.read_bytes())
        os.chown(kept, 12345, -1)
        assert _outputs([program, named], environment) == first
        assert kept.stat().st_uid == 0


def test_where_a_longjmp_leads_is_known(tmp_path: Path) -> None:
    assert _outputs([compiled("jumps", tmp_path)]) == ["here", "returned"]


@needs_aarch64
def test_where_a_longjmp_leads_is_known_on_aarch64(tmp_path: Path) -> None:
    program = tmp_path / "jumps"
    options = ["-std=c++20", "-O2", "-iquote", str(AGENT_SOURCE), "-o", str(program)]
    subprocess.run(["aarch64-linux-gnu-g++", SOURCES / "jumps.cpp", *options], check=True)
    assert _outputs([*EMULATOR, program]) == ["here", "returned"]


def _left_by_exceptions(compiler: list[str], directory: Path) -> Path:
    """Compile the agent's part as the agent is, and beside it a program that throws."""
    part, program = directory / "unwinding.o", directory / "exceptions"
    source = AGENT_SOURCE / "support" / "Unwinding.cpp"
    options = ["-std=c++20", "-fPIC", *include_flags()]
    alone = ["-fno-exceptions", "-fno-rtti", "-c", str(source), "-o", str(part)]
    subprocess.run([*compiler, "-O2", *options, *alone], check=True)
    whole = [str(SOURCES / "exceptions.cpp"), str(part), "-pthread", "-o", str(program)]
    subprocess.run([*compiler, "-O1", *options, *whole], check=True)
    return program


LEFT_BY_EXCEPTIONS = [
    *("enter 0", "return 0"),
    *("enter 1", "enter 0", "leave 0", "leave 1", "caught first"),
    *("enter 1", "enter 0", "leave 0", "leave 1", "caught second"),
    "leave the thread",
    *("enter 0", "return 0"),
]


def test_calls_that_exceptions_leave_are_noticed(tmp_path: Path) -> None:
    assert _outputs([_left_by_exceptions(find_compiler(), tmp_path)]) == LEFT_BY_EXCEPTIONS


@needs_aarch64
def test_calls_that_exceptions_leave_are_noticed_on_aarch64(tmp_path: Path) -> None:
    program = _left_by_exceptions(["aarch64-linux-gnu-g++"], tmp_path)
    assert _outputs([*EMULATOR, program]) == LEFT_BY_EXCEPTIONS


def _hooks() -> list[str]:
    """List the mangled names of all hooks, by the compiler."""
    text = (AGENT_SOURCE / "interpose" / "Versions.h").read_text()
    names = re.findall(r"#define (ADBG_[A-Z_]+)(?=[ \n\\])", text)
    macros = text[text.index("// Mangled") :]
    wanted = "\n".join(f"@{name[5:]}@ {name}" for name in names)
    done = subprocess.run(
        [*find_compiler(), "-E", "-P", "-x", "c++", "-"],
        input=f"{macros}\n{wanted}\n",
        capture_output=True,
        text=True,
        check=True,
    )
    symbols: set[str] = set()
    for found in re.finditer(r'@\w+@ ((?:"[^"]*"\s*)+)', done.stdout):
        symbol = "".join(re.findall(r'"([^"]*)"', found[1]))
        if symbol.startswith("_Z"):
            # The second is of a build with ABI-breaking checks.
            symbols |= {symbol, symbol.replace("Lb0ELb0EvLb0E", "Lb1ELb0EvLb0E")}
    return sorted(symbols)


def test_the_first_instructions_of_every_hook_can_be_moved(tmp_path: Path) -> None:
    library = find_tool("mlir-opt").libmlir
    assert library is not None
    done = subprocess.run(
        [compiled("prologues", tmp_path), library],
        input="\n".join(_hooks()),
        capture_output=True,
        text=True,
        check=True,
    )
    results = dict(line.split(" ", 1) for line in done.stdout.splitlines())
    moved = [name for name, result in results.items() if result.startswith("taken ")]
    refused = {n: r for n, r in results.items() if n not in moved and r != "absent"}
    assert not refused
    assert len(moved) > 40


def _of_agent(name: str, directory: Path) -> list[str]:
    """Compile a program with sources of the agent, and return what it prints."""
    built = directory / name
    words = [*FLAGS, *include_flags(), "-o", str(built), "-ldl"]
    subprocess.run([*find_compiler(), str(SOURCES / f"{name}.cpp"), *words], check=True)
    return _outputs([built])


def test_free_memory_is_found_near_an_object(tmp_path: Path) -> None:
    """On either side, in reach, and above 2^47, where a program of aarch64 lies."""
    assert _of_agent("gaps", tmp_path) == [
        "below: 555555554000",
        "above: 555555756000",
        "farther: 555555859000",
        "no room: 0",
        "out of reach: 0",
        "high: aaaaaaaa9000",
        "highest: fffff79ff000",
        "last: ffffffefe000",
    ]


def test_operations_have_ids_wherever_they_are(tmp_path: Path) -> None:
    """Addresses of 48 bits do not share ids, and are found again."""
    assert _of_agent("ids", tmp_path) == [
        "1 555555559040 1",
        "2 2aaaaaaab040 1",
        "3 aaaaaaaab040 1",
        "4 7ffff0000048 1",
        "5 fffff0000048 1",
        "6 ffffffffffc0 1",
        "destroyed: 3, then 0",
    ]
