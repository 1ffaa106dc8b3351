"""The examination of tools that a C compiler makes, without a run."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from actiondbg.cli import main
from actiondbg.commands.render.doctor import examined_text
from actiondbg.doctor.build_report import markdown_table
from actiondbg.doctor.examination import Examined, examine
from actiondbg.doctor.sample import sample_of_tool
from actiondbg.doctor.subject import ExaminedSubject, installed_subjects, subjects_of
from actiondbg.errors import LaunchError
from actiondbg.protocol.capabilities import CAPABILITIES
from actiondbg.tool.identification import build_id_of
from tests.unit.toolchain.test_identification import MAIN, MLIR, TEXTS, tool_of_many_libraries
from tests.unit.toolchain.test_toolchain import compile_c, write


@pytest.fixture
def foo_opt(tmp_path: Path) -> Path:
    compile_c(tmp_path / "prefix/bin/foo-opt", MLIR + MAIN)
    return tmp_path / "prefix/bin/foo-opt"


def subject_of(path: Path) -> ExaminedSubject:
    return ExaminedSubject(path.name, path, sample_of_tool(path.name))


def test_a_tool_without_a_trial(foo_opt: Path) -> None:
    found = examine(subject_of(foo_opt))
    assert found.is_usable
    assert (found.llvm, found.symbols) == ("23.0.0git", "in .symtab")
    assert found.object == foo_opt
    assert found.build is not None and found.compilers
    assert found.capabilities is None
    assert "it can be debugged, as far as its file tells" in examined_text(found)


def test_the_version_is_in_another_object(tmp_path: Path) -> None:
    found = examine(subject_of(tool_of_many_libraries(tmp_path)))
    assert found.object is not None and found.object.name == "libMLIRIR.so.23.0"
    assert found.llvm == "23.0.0git"


def test_a_stripped_tool(foo_opt: Path) -> None:
    subprocess.run(["strip", foo_opt], check=True)
    found = examine(subject_of(foo_opt))
    assert not found.is_usable
    assert (found.symbols, found.llvm) == ("stripped", "23.0.0git")
    text = examined_text(found)
    assert text.startswith(f"foo-opt: {str(foo_opt)!r} is stripped")


def test_a_tool_with_a_stripped_library(tmp_path: Path) -> None:
    library = tmp_path / "libMLIR.so.23"
    compile_c(library, MLIR, "-shared", "-fPIC", f"-Wl,-soname,{library.name}")
    tool = tmp_path / "foo-opt"
    compile_c(tool, MAIN, "-Wl,--no-as-needed", str(library), f"-Wl,-rpath,{tmp_path}")
    compile_c(library, TEXTS, "-shared", "-fPIC", f"-Wl,-soname,{library.name}")
    subprocess.run(["strip", library], check=True)
    found = examine(subject_of(tool))
    assert found.problem is not None and found.problem.startswith(f"{str(library)!r} is stripped")
    assert (found.program, found.object, found.symbols) == (tool, library, "stripped")
    assert found.build == build_id_of(library)


def test_a_refused_program_without_mlir_names_no_object(tmp_path: Path) -> None:
    compile_c(tmp_path / "static", MAIN, "-static")
    found = examine(subject_of(tmp_path / "static"))
    assert not found.is_usable
    assert (found.object, found.symbols, found.build) == (None, None, None)


def test_a_library_of_a_package_is_described(foo_opt: Path, tmp_path: Path) -> None:
    compile_c(tmp_path / "libfoo.so", MLIR, "-shared", "-fPIC")
    subject = ExaminedSubject(
        "foo", Path(sys.executable), sample_of_tool("foo"), tmp_path / "libfoo.so"
    )
    found = examine(subject)
    assert (found.object, found.symbols) == (tmp_path / "libfoo.so", "exported")
    assert found.program == Path(sys.executable)


def environment(directory: Path, *packages: str) -> Path:
    """Make a Python interpreter that finds packages, each a folder with a tool in it."""
    tool = "_mlir_libs/iree-opt"
    for package in packages:
        (directory / package / tool).parent.mkdir(parents=True)
        compile_c(directory / package / tool, MLIR + MAIN)
    found = json.dumps({"iree.compiler": [str(directory / package) for package in packages]})
    return write(directory / "bin/python3", f"#!/bin/sh\necho '{found}'\n", 0o755)


def test_an_interpreter_stands_for_its_packages(tmp_path: Path) -> None:
    python = environment(tmp_path, "iree")
    (subject,) = subjects_of(str(python))
    assert subject == subject_of(tmp_path / "iree/_mlir_libs/iree-opt")


def test_an_old_jaxlib(tmp_path: Path) -> None:
    """Its library has another name until 0.5."""
    library = write(tmp_path / "jaxlib/xla_extension.so", "", 0o644)
    found = json.dumps({"jaxlib": [str(library.parent)]})
    python = write(tmp_path / "bin/python3", f"#!/bin/sh\necho '{found}'\n", 0o755)
    (subject,) = subjects_of(str(python))
    assert (subject.name, subject.library) == ("jaxlib", library)


def test_an_environment_without_packages(tmp_path: Path) -> None:
    with pytest.raises(LaunchError, match="has no package for which the doctor has an input"):
        subjects_of(str(environment(tmp_path)))


def test_an_interpreter_that_fails(tmp_path: Path) -> None:
    python = write(tmp_path / "python3", "#!/bin/sh\nexit 7\n", 0o755)
    with pytest.raises(LaunchError, match="could not list its packages"):
        subjects_of(str(python))


def test_the_table() -> None:
    reasons = {"edit": "no headers"}
    able = [name for name in CAPABILITIES if name not in reasons]
    tried = Examined("a-opt", Path("a"), llvm="23", capabilities=able, missing=reasons)
    static = Examined("b-opt", Path("b"))
    refused = Examined("c-opt", Path("c"), problem="It is stripped.")
    lines = markdown_table([tried, static, refused]).splitlines()
    assert lines[0] == "| capability | `a-opt` | `b-opt` | `c-opt` |"
    assert lines[2] == "| LLVM | 23 | unknown | unknown |"
    assert "| `skip`: skip actions | yes | unknown | —[^1] |" in lines
    assert "| `edit`: edit IR and run passes on it | —[^2] | unknown | —[^1] |" in lines
    assert lines[3 + len(CAPABILITIES) :] == [
        "",
        "[^1]: It is stripped.",
        "",
        "[^2]: The agent lacks `edit`: no headers.",
    ]


def test_reasons_are_grouped() -> None:
    missing = {"fork": "threads", "edit": "no headers", "ordinals-stable": "threads"}
    found = Examined("a", Path("a"), capabilities=["skip"], missing=missing)
    lines = examined_text(found).splitlines()
    assert lines[0] == "a: it can be debugged; the agent lacks 3 of 4 capabilities."
    assert lines[-2:] == ["  no fork, ordinals-stable: threads", "  no edit: no headers"]


def test_the_command(foo_opt: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--static", str(foo_opt)]) == 0
    assert capsys.readouterr().out.startswith(
        "foo-opt: it can be debugged, as far as its file tells"
    )
    subprocess.run(["strip", foo_opt], check=True)
    assert main(["doctor", "--static", "--json", str(foo_opt)]) == 1
    (tool,) = json.loads(capsys.readouterr().out)["tools"]
    assert (tool["name"], tool["symbols"]) == ("foo-opt", "stripped")


def test_an_environment_without_tools(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("actiondbg.commands.cli.doctor.installed_subjects", list[ExaminedSubject])
    assert main(["doctor"]) == 1
    assert capsys.readouterr().out.startswith("Not installed: mlir-opt (pip install ")


def test_a_flang_of_two_names_is_examined_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "real/flang-30", "#!/bin/sh\n", 0o755)
    for name in ("flang-30", "flang-new-30"):
        (tmp_path / "bin").mkdir(exist_ok=True)
        (tmp_path / "bin" / name).symlink_to(tmp_path / "real/flang-30")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    names = [subject.name for subject in installed_subjects()]
    assert [name for name in names if "flang" in name] == ["flang-30"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["no-such-opt"], "There is no tool 'no-such-opt' on PATH"),
        (["--json", "--markdown", "true"], "--json and --markdown were given: choose one"),
        (["--timeout", "0", "true"], "'0' is not a positive number of seconds"),
    ],
)
def test_bad_usage(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as raised:
        main(["doctor", *words])
    assert raised.value.code == 2
    assert message in capsys.readouterr().err
