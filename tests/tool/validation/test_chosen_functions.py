"""``actiondbg validate --func``: the functions that are judged, and those that are left out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import actiondbg
from actiondbg.errors import UsageError
from tests.conftest import LIBRARY
from tests.fakes import command_line

BUILDS = LIBRARY

# LLVM 22 makes 1 of the case 2^32 + 1. The function @right does not call @wrong.
_FUNCTIONS = """\
func.func @wrong(%x: index) -> index {
  %chosen = scf.index_switch %x -> index
  case 4294967297 {
    %twenty = arith.constant 20 : index
    scf.yield %twenty : index
  }
  default {
    %thirty = arith.constant 30 : index
    scf.yield %thirty : index
  }
  return %chosen : index
}
func.func @caller(%c: i1, %x: index) -> index {
  %chosen = scf.if %c -> index {
    %called = func.call @wrong(%x) : (index) -> index
    scf.yield %called : index
  } else {
    scf.yield %x : index
  }
  return %chosen : index
}
func.func @right(%c: i1, %x: i32, %y: i32) -> i32 {
  %chosen = scf.if %c -> i32 {
    scf.yield %x : i32
  } else {
    scf.yield %y : i32
  }
  return %chosen : i32
}
func.func private @declared(index)
"""
_ON_MODULES = "--convert-scf-to-cf"
_ON_FUNCTIONS = "--pass-pipeline=builtin.module(func.func(convert-scf-to-cf))"


@pytest.fixture
def tool(mlir_opt: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.chdir(tmp_path)
    Path("in.mlir").write_text(_FUNCTIONS)
    return [mlir_opt, "in.mlir"]


def test_a_fault_in_a_function_that_is_left_out(tool: list[str]) -> None:
    done = command_line.run("validate", "--func", "right", "--", *tool, _ON_FUNCTIONS)
    assert (done.returncode, done.stderr) == (0, "")
    judged, _, summary = done.stdout.splitlines()
    assert judged.endswith(" in @right at in.mlir:22:1: equivalent (1 function proved)")
    assert summary == "1 changing pass: 1 equivalent. 2 functions left out by --func."


@pytest.mark.parametrize("passes", [_ON_MODULES, _ON_FUNCTIONS])
@pytest.mark.parametrize(
    ("globs", "judged", "status"),
    [
        (["right"], {"right"}, 0),
        (["w*"], {"wrong"}, 1),
        (["r*", "caller"], {"right", "caller"}, 1),
    ],
)
def test_the_chosen_functions_decide(
    globs: list[str], judged: set[str], status: int, passes: str, tool: list[str]
) -> None:
    chosen = [word for glob in globs for word in ("--func", glob)]
    done = command_line.run("validate", "--json", *chosen, "--", *tool, passes)
    found = json.loads(done.stdout)
    functions = [
        each["function"]
        for judged in (*found["passes"], *found["inside"])
        for each in judged["functions"]
    ]
    assert set(functions) == judged
    assert found["left_out"] == 3 - len(judged)
    if "caller" in judged and passes == _ON_FUNCTIONS:
        status = 0  # with @wrong as it is at that pass
    assert done.returncode == status


def test_the_pattern_in_a_chosen_function_is_not_blamed_for_a_left_out_one(
    tool: list[str],
) -> None:
    """The only pattern in @caller is right; the one in @wrong, which it calls, is not."""
    found = actiondbg.validate([*tool, _ON_MODULES], func=["caller"])
    assert found.culprit is not None
    assert found.culprit.step.is_pass


def test_a_function_that_no_pass_changes(tool: list[str]) -> None:
    Path("in.mlir").write_text(f"{_FUNCTIONS}func.func @same() {{\n  return\n}}\n")
    done = command_line.run("validate", "--func", "same", "--", *tool, _ON_MODULES)
    summary = "No pass changed a chosen function. 3 functions left out by --func.\n"
    assert (done.returncode, done.stdout) == (0, summary)


def test_a_recording_is_judged_in_part(tool: list[str]) -> None:
    record = ["record", "-q", "-o", "run.adbrec", "--ir", "function"]
    command_line.run(*record, "--", *tool, _ON_MODULES, "-o", "out.mlir", check=True)
    verdicts = [
        actiondbg.validate(Path("run.adbrec"), func=[each]).verdict for each in ("r*", "w*")
    ]
    assert verdicts == ["equivalent", "different"]


def test_a_glob_that_matches_nothing(tool: list[str]) -> None:
    done = command_line.run("validate", "--func", "r*", "--func", "rihgt", "--", *tool, _ON_MODULES)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "actiondbg: No function of the run matches 'rihgt': there are caller, right and wrong.\n"
    )


def test_many_functions_are_not_all_named(tool: list[str]) -> None:
    more = "".join(f"func.func @f{at:02}() {{\n  return\n}}\n" for at in range(20))
    Path("in.mlir").write_text(more + _FUNCTIONS)
    some = "caller, f00, f01, f02, f03, f04, f05 and f06"
    with pytest.raises(UsageError, match=f"there are 23, such as {some}.$"):
        actiondbg.validate([*tool, _ON_MODULES], func=["none"])


def test_a_glob_that_is_not_closed(tool: list[str]) -> None:
    done = command_line.run("validate", "--func", "f[0", "--", *tool, _ON_MODULES)
    assert done.returncode == 2
    assert "The [ in 'f[0' is not closed" in done.stderr
