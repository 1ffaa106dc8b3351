"""What a file is found to be, in programs that a C compiler makes."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from actiondbg.errors import LaunchError
from actiondbg.tool import find_tool, identification
from actiondbg.tool.identification import (
    Symbols,
    abi_checks,
    compilers_of,
    find_mlir_object,
    llvm_version,
    locate,
    symbols_of,
)
from tests.unit.toolchain.test_toolchain import compile_c, refusal, write

EXECUTE_ACTION = (
    "_ZN4mlir11MLIRContext21executeActionInternalEN4llvm12function_refIFvvEEERKNS_7tracing6ActionE"
)
TEXTS = """
const char *texts[] = {"builtin.unrealized_conversion_cast", "\\0MLIR23.0.0git\\0"};
int _ZN4llvm24DisableABIBreakingChecksE;
"""
MLIR = TEXTS + f"void {EXECUTE_ACTION}(void) {{}}\n"
MAIN = "int main(void) { return 0; }\n"


@pytest.fixture
def static_tool(tmp_path: Path) -> Path:
    """A tool with MLIR in it, in the folder bin of a prefix without headers."""
    compile_c(tmp_path / "prefix/bin/foo-opt", MLIR + MAIN)
    return tmp_path / "prefix/bin/foo-opt"


def test_symbols_of_a_static_tool(static_tool: Path, tmp_path: Path) -> None:
    assert symbols_of(static_tool) is Symbols.LOCAL
    compile_c(tmp_path / "exporting", MLIR + MAIN, "-rdynamic")
    assert symbols_of(tmp_path / "exporting") is Symbols.EXPORTED
    subprocess.run(["strip", tmp_path / "exporting"], check=True)
    assert symbols_of(tmp_path / "exporting") is Symbols.EXPORTED
    subprocess.run(["strip", static_tool], check=True)
    assert symbols_of(static_tool) is Symbols.STRIPPED
    compile_c(tmp_path / "plain", MAIN)
    assert symbols_of(tmp_path / "plain") is Symbols.ABSENT


def test_an_old_mlir_is_refused(tmp_path: Path) -> None:
    """Before LLVM 17 there were contexts and no actions."""
    old = TEXTS + "void _ZN4mlir11MLIRContextD1Ev(void) {}\n"
    passes = "void _ZN4mlir11PassManager3runEPNS_9OperationE(void) {}\n"
    compile_c(tmp_path / "old-opt", old + passes + MAIN)
    assert symbols_of(tmp_path / "old-opt") is Symbols.OLD
    compile_c(tmp_path / "libMLIR.so.16", old, "-shared", "-fPIC")
    rpath = f"-Wl,-rpath,{tmp_path}"
    compile_c(tmp_path / "user", MAIN, "-Wl,--no-as-needed", str(tmp_path / "libMLIR.so.16"), rpath)
    for tool in ("old-opt", "user"):
        with pytest.raises(LaunchError, match=r"has an MLIR before LLVM 17.*use a newer build"):
            find_tool(str(tmp_path / tool))


def test_a_tool_without_passes_is_refused(tmp_path: Path) -> None:
    """The linker leaves out the actions, too, as in mlir-pdll."""
    compile_c(tmp_path / "mlir-pdll", TEXTS + "void _ZN4mlir11MLIRContextD1Ev(void) {}\n" + MAIN)
    assert symbols_of(tmp_path / "mlir-pdll") is Symbols.WITHOUT_PASSES
    with pytest.raises(LaunchError, match=r"so that there are no actions.*mlir-opt"):
        find_tool(str(tmp_path / "mlir-pdll"))


def test_facts_of_a_static_tool(static_tool: Path) -> None:
    assert llvm_version(static_tool) == "23.0.0git"
    assert abi_checks(static_tool) is False
    assert any(name.startswith("GCC") for name in compilers_of(static_tool))


def test_a_reference_is_no_definition(tmp_path: Path) -> None:
    compile_c(tmp_path / "libfoo.so", MLIR, "-shared", "-fPIC")
    call = f"void {EXECUTE_ACTION}(void);\nint main(void) {{ {EXECUTE_ACTION}(); }}\n"
    rpath = f"-Wl,-rpath,{tmp_path}"
    compile_c(tmp_path / "user", call, str(tmp_path / "libfoo.so"), rpath)
    assert symbols_of(tmp_path / "user") is Symbols.ABSENT
    found = find_mlir_object([tmp_path / "user", tmp_path / "libfoo.so"])
    assert found == (tmp_path / "libfoo.so", Symbols.EXPORTED)
    assert find_tool(str(tmp_path / "user")).libmlir == tmp_path / "libfoo.so"


@pytest.mark.parametrize("cut", [0, 10, 70, 2000])
def test_truncated_objects_have_no_symbols(static_tool: Path, tmp_path: Path, cut: int) -> None:
    cropped = tmp_path / "cut"
    cropped.write_bytes(static_tool.read_bytes()[:cut])
    assert find_mlir_object([cropped]) is None


def test_a_static_tool_is_found(static_tool: Path) -> None:
    tool = find_tool(str(static_tool))
    assert (tool.libmlir, tool.llvm(), tool.assertions()) == (static_tool, "23.0.0git", False)


def tool_of_many_libraries(tmp_path: Path) -> Path:
    """As with -DBUILD_SHARED_LIBS=ON: there is no libMLIR, and all functions are exported."""
    library = tmp_path / "lib/libMLIRIR.so.23.0"
    support = tmp_path / "lib/libLLVMSupport.so"
    soname = f"-Wl,-soname,{library.name}"
    compile_c(library, f"void {EXECUTE_ACTION}(void) {{}}", "-shared", "-fPIC", soname)
    compile_c(support, TEXTS, "-shared", "-fPIC", f"-Wl,-soname,{support.name}")
    rpath = "-Wl,-rpath,$ORIGIN/../lib"
    compile_c(
        tmp_path / "bin/foo-opt", MAIN, "-Wl,--no-as-needed", str(library), str(support), rpath
    )
    return tmp_path / "bin/foo-opt"


def test_a_build_with_a_library_for_each_folder(tmp_path: Path) -> None:
    tool = find_tool(str(tool_of_many_libraries(tmp_path)))
    assert (tool.llvm(), tool.assertions()) == ("23.0.0git", False)
    assert tool.libmlir is not None and tool.libmlir.name == "libMLIRIR.so.23.0"
    assert tool.libllvm is not None and tool.libllvm.name == "libLLVMSupport.so"


def test_stripped(static_tool: Path) -> None:
    subprocess.run(["strip", static_tool], check=True)
    message = refusal(static_tool)
    assert f"{str(static_tool)!r} is stripped" in message
    assert "keeps .symtab" in message


def test_a_script_is_a_program(tmp_path: Path) -> None:
    script = write(tmp_path / "tool", "#!/bin/sh\nexec mlir-opt\n", 0o755)
    assert find_tool(str(script)).libmlir is None


@pytest.mark.parametrize("first", ["#!", "#!  ", "#!/no/such/interpreter -x", "#!{self}"])
def test_a_script_that_cannot_be_run(tmp_path: Path, first: str) -> None:
    path = tmp_path / "tool"
    script = write(path, first.format(self=path) + "\n", 0o755)
    assert "correct its first line" in refusal(script)


def test_a_script_of_a_static_interpreter(tmp_path: Path) -> None:
    try:
        compile_c(tmp_path / "busy", MAIN, "-static")
    except subprocess.CalledProcessError:
        pytest.skip("the compiler cannot link with -static")
    script = write(tmp_path / "tool", f"#!{tmp_path}/busy\n", 0o755)
    assert f"{str(tmp_path / 'busy')!r} is statically linked" in refusal(script)


def test_a_program_without_mlir(tmp_path: Path) -> None:
    compile_c(tmp_path / "plain", MAIN)
    assert find_tool(str(tmp_path / "plain")).libmlir is None


def test_another_architecture(static_tool: Path, tmp_path: Path) -> None:
    content = bytearray(static_tool.read_bytes())
    content[18:20] = (8).to_bytes(2, "little")
    other = write(tmp_path / "other", "", 0o755)
    other.write_bytes(content)
    message = refusal(other)
    assert "is built for machine 8" in message
    assert f"this machine is {os.uname().machine}" in message


@pytest.mark.parametrize(("mode", "word"), [(0o4755, "setuid"), (0o2755, "setgid")])
def test_programs_with_other_privileges(
    static_tool: Path, tmp_path: Path, mode: int, word: str
) -> None:
    privileged = tmp_path / "privileged"
    shutil.copy(static_tool, privileged)
    try:
        os.chown(privileged, 65534, 65534)
    except PermissionError:
        pytest.skip("only root can give a file to another user")
    privileged.chmod(mode)
    assert f"is {word}, and the dynamic loader preloads no agent" in refusal(privileged)


def test_file_capabilities(static_tool: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # cap_net_raw in the permitted set: struct vfs_cap_data of linux/capability.h.
    value = bytes.fromhex("0100000200200000000000000000000000000000")
    try:
        os.setxattr(static_tool, "security.capability", value)
    except OSError:
        pytest.skip("only root can give a file capabilities")
    assert find_tool(str(static_tool)).libmlir == static_tool  # root has them anyway
    monkeypatch.setattr("os.getuid", lambda: 65534)
    assert "file capabilities" in refusal(static_tool)


def test_a_bare_name_is_looked_up_on_path_then_in_packages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = [tmp_path / "bin/iree-opt", tmp_path / "iree/compiler/_mlir_libs/iree-opt"]
    for tool in tools:
        tool.parent.mkdir(parents=True)
        tool.write_text("#!/bin/sh\n")
        tool.chmod(0o755)
    places = {"iree.compiler": [tmp_path / "iree/compiler"]}

    def directories(name: str) -> Iterator[Path]:
        yield from places.get(name, [])

    monkeypatch.setattr(identification, "package_directories", directories)
    monkeypatch.setenv("PATH", f"{tmp_path}/empty:{tmp_path}/bin")
    assert locate("iree-opt") == tools[0]
    tools[0].unlink()
    assert locate("iree-opt") == tools[1]
    tools[1].unlink()
    with pytest.raises(LaunchError, match=r"'iree-opt' on PATH: give its path, or install it besi"):
        locate("iree-opt")


CONSOLE_SCRIPT = """\
#!{python}
# -*- coding: utf-8 -*-
import re
import sys
from {module} import main
if __name__ == '__main__':
    sys.exit(main())
"""
# As pip writes it where the interpreter's path has blanks.
LONG_SCRIPT = CONSOLE_SCRIPT.replace(
    "#!{python}", "#!/bin/sh\n'''exec' \"{python}\" \"$0\" \"$@\"\n' '''"
)


@pytest.mark.parametrize("text", [CONSOLE_SCRIPT, LONG_SCRIPT])
@pytest.mark.parametrize("is_elsewhere", [False, True])
def test_a_script_of_a_package_stands_for_its_tool(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, is_elsewhere: bool
) -> None:
    monkeypatch.delenv("IREE_TOOL_PATH", raising=False)
    environment = tmp_path / "an environment"
    tool = environment / "lib/python3.12/site-packages/iree/compiler/_mlir_libs/iree-opt"
    python = environment / "bin/python3.12"
    script = (tmp_path if is_elsewhere else environment) / "bin/iree-opt"
    for path in (tool, python, script):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
        path.chmod(0o755)
    module = "iree.compiler.tools.scripts.iree_opt.__main__"
    script.write_text(text.format(python=python, module=module))
    assert locate(str(script)) == tool
    monkeypatch.setenv("PATH", str(script.parent))
    assert locate("iree-opt") == tool
    monkeypatch.setenv("IREE_TOOL_PATH", "/elsewhere")
    assert locate("iree-opt") == script
    monkeypatch.delenv("IREE_TOOL_PATH")
    script.write_text(text.format(python=python, module="my.own"))
    assert locate("iree-opt") == script
    script.write_text(text.format(python=python, module=module))
    tool.unlink()
    assert locate("iree-opt") == script
