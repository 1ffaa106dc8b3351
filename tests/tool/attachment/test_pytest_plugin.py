"""The pytest plugin: tests that fail when a named pattern does not apply."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.conftest import FOLDS
from tests.elements import some
from tests.fakes.small_disk import small_disk
from tests.tool.attachment.conftest import COMPILE


@pytest.fixture
def run_test(
    attachable: None, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> RunTest:
    """Run a test in a pytest of its own, which imports no other plugin."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTEST_PLUGINS", "actiondbg.attachment.pytest_plugin")
    pytester.makefile(".mlir", folds=FOLDS)
    return RunTest(pytester)


class RunTest:
    """Runs a test, and returns the lines of its failure."""

    def __init__(self, pytester: pytest.Pytester) -> None:
        self._pytester = pytester

    def passes(self, body: str) -> None:
        """Run a test that has to pass."""
        self._run(body).assert_outcomes(passed=1)

    def fails(self, body: str) -> list[str]:
        """Run a test that has to fail; return the lines of its message."""
        [lines] = self.each_fails([body])
        return lines

    def each_fails(self, bodies: Sequence[str]) -> list[list[str]]:
        """Run tests that have to fail, one after the other; return the lines of each message."""
        result = self._run(*bodies)
        result.assert_outcomes(failed=len(bodies))
        parts = re.split(r"(?m)^_+ test_(\d+) _+$", result.stdout.str())[1:]
        assert parts[::2] == [str(number) for number in range(len(bodies))]
        return [self._message(text) for text in parts[1::2]]

    @staticmethod
    def _message(text: str) -> list[str]:
        # The line of the test itself is shown, and nothing of the plugin.
        assert "\n>  " in text
        assert "assertions.py" not in text
        lines = [line[8:] for line in text.splitlines() if line.startswith("E       ")]
        return [line.removeprefix("AssertionError: ") for line in lines]

    def _run(self, *bodies: str) -> pytest.RunResult:
        fixtures = "assert_applied, assert_not_applied, actiondbg_actions"
        tests = (f"def test_{at}({fixtures}):\n    {body}\n" for at, body in enumerate(bodies))
        self._pytester.makepyfile("\n".join([COMPILE, *tests]))
        self.last = self._pytester.runpytest_subprocess()
        return self.last


def test_a_pattern_that_applies(run_test: RunTest) -> None:
    run_test.passes("compile(); assert_applied('AddIAddConstant')")


def test_a_pattern_that_does_not_match(run_test: RunTest) -> None:
    assert run_test.fails("compile(); assert_applied('AddISubConstantRHS')") == [
        "AddISubConstantRHS did not apply. It was tried 6 times, on 4 operations:",
        "  6 times: There's no operation that defines operand 0 of castedOp0 (first: #8 on "
        "arith.addi in @sum at -:6:8)",
    ]


def test_a_pattern_that_is_misspelled(run_test: RunTest) -> None:
    assert run_test.fails("compile(); assert_applied('AddIAddConstantt')") == [
        "AddIAddConstantt did not apply: it was never tried. 61 actions ran, of 6 patterns and "
        "1 pass.",
        "  Did you mean pattern:AddIAddConstant?",
    ]


def test_a_pattern_that_was_tried_elsewhere(run_test: RunTest) -> None:
    first, *others = run_test.fails("compile(); assert_applied('*AddIAddConstant', at='-:99')")
    assert first == "*AddIAddConstant at -:99 did not apply: it was tried 8 times, but not there."
    assert (
        others[0].startswith("  It applied as #") and "on arith.addi in @sum at -:7:8" in others[0]
    )


def test_a_pass_that_changes_nothing(run_test: RunTest) -> None:
    assert run_test.fails("compile('builtin.module(cse)'); assert_applied('cse')") == [
        "cse did not apply. It was tried once, on 1 operation:",
        "  once: unchanged (first: #1 on builtin.module at -:0:0)",
    ]


def test_a_test_without_mlir(run_test: RunTest) -> None:
    assert run_test.fails("assert_applied('AddIAddConstant')") == [
        "AddIAddConstant did not apply: no action was observed, because no MLIR ran here. The "
        "actions of a command are observed with run=[TOOL, ARGS...]."
    ]


def test_a_pattern_that_must_not_apply(run_test: RunTest) -> None:
    assert run_test.fails("compile(); assert_not_applied('AddIAddConstant')") == [
        "AddIAddConstant applied 2 times, on 2 operations:",
        "  #14 on arith.addi in @sum at -:7:8",
        "  #33 on arith.addi in @twice at -:14:8",
    ]
    run_test.passes("compile(); assert_not_applied('AddISubConstantRHS')")


SYNTAX_ERRORS = (
    ("'pattern:'", "Nothing follows pattern: give a name"),
    ("'AddIAddConstant', at='8'", "'8'"),
    ("'AddIAddConstant if depth >', run=['mlir-opt', 'folds.mlir']", "depth >"),
    ("'AddIAddConstant', run='mlir-opt a.mlir'", "give run=['mlir-opt', 'a.mlir']"),
    (
        "'AddIAddConstant', run=['mlir-opt', 5]",
        "5 of run is no text: give run=['mlir-opt', '5']",
    ),
    ("'AddIAddConstant', run=5", "run=5 is no list: give run=[TOOL, ARGS...]"),
    ("'AddIAddConstant', at=5", "at=5 is no text: give at='FILE:LINE'"),
    ("5", "name=5 is no text"),
)


def test_a_syntax_error_is_shown_at_the_line_of_the_test(run_test: RunTest) -> None:
    cases = [
        (f"compile(); {fixture}({words})", message)
        for fixture in ("assert_applied", "assert_not_applied")
        for words, message in SYNTAX_ERRORS
    ]
    messages = run_test.each_fails([body for body, _ in cases])
    for (body, message), lines in some(zip(cases, messages, strict=True)):
        assert lines[0].startswith("actiondbg.errors.UsageError: "), body
        assert message in "\n".join(lines), body
        assert len(lines) <= 4, body


def test_what_must_not_apply_without_mlir(run_test: RunTest) -> None:
    assert run_test.fails("assert_not_applied('AddIAddConstant')") == [
        "Whether AddIAddConstant applies is unknown: no action was observed, because no MLIR ran "
        "here. The actions of a command are observed with run=[TOOL, ARGS...]."
    ]


def test_several_names_are_refused(run_test: RunTest) -> None:
    lines = run_test.fails("compile(); assert_not_applied('AddISubConstantRHS AddIAddConstant')")
    assert "'AddISubConstantRHS AddIAddConstant' is no name of a pattern" in lines[0]
    run_test.passes("compile(); assert_not_applied('(anonymous namespace)::Fold<int, 2>')")
    run_test.passes("compile(); assert_not_applied('pattern:MyPattern and func:sum if depth > 1')")


def test_a_slip_in_what_must_not_apply_is_reported(run_test: RunTest) -> None:
    body = "compile(); assert_not_applied('AddIAddConstantt')"
    run_test.passes(body)
    warning = "*test_*.py:*UserWarning: AddIAddConstantt was never tried; did you mean pattern:AddI"
    run_test.last.stdout.fnmatch_lines([f"{warning}*"])
    argv = ["mlir-opt", "folds.mlir", "--canonicalize"]
    run_test.passes(f"assert_not_applied('AddIAddConstantt', run={argv})")
    run_test.last.stdout.fnmatch_lines([f"{warning}*"])
    run_test.passes("compile(); assert_not_applied('cse')")
    assert "UserWarning" not in run_test.last.stdout.str()


def test_a_command(run_test: RunTest) -> None:
    run_test.passes(
        "assert_applied('fold:arith.addi', run=['mlir-opt', 'folds.mlir', '--canonicalize'])"
    )
    assert run_test.fails(
        "assert_applied('AddIAddConstant', at='folds.mlir:6', "
        "run=['mlir-opt', 'folds.mlir', '--canonicalize'])"
    ) == [
        "AddIAddConstant at folds.mlir:6 did not apply. It was tried once, on 1 operation:",
        "  once: There's no operation that defines operand 0 of castedOp0 (first: #7 on "
        "arith.addi in @sum at folds.mlir:6:8)",
    ]


def test_a_command_that_fails(run_test: RunTest) -> None:
    assert run_test.fails("assert_applied('cse', run=['mlir-opt', 'none.mlir', '--cse'])") == [
        "mlir-opt none.mlir --cse failed with exit status 1:",
        "  cannot open input file 'none.mlir': No such file or directory",
    ]


def test_each_test_sees_its_own_actions(
    run_test: RunTest, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytester.makepyfile(
        f"""{COMPILE}
def test_one(assert_applied):
    compile()
    assert_applied("canonicalize")

def test_two(assert_not_applied, actiondbg_actions):
    compile("builtin.module(cse)")
    assert_not_applied("canonicalize")
    assert [each.name for each in actiondbg_actions] == ["cse"]
"""
    )
    # As where the package is installed: all plugins are found.
    monkeypatch.delenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD")
    monkeypatch.delenv("PYTEST_PLUGINS")
    pytester.runpytest_subprocess().assert_outcomes(passed=2)


def test_nothing_is_concluded_from_what_a_full_disk_left_out(
    run_test: RunTest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was recorded counts; that a pattern was not tried is unknown."""
    many = """compile(text="".join(
        FOLDS.replace('@sum', f'@sum{i}').replace('@twice', f'@twice{i}') for i in range(2000)
    )); compile('builtin.module(symbol-dce)'); """
    with small_disk(tmp_path / "disk") as disk:
        monkeypatch.setenv("TMPDIR", str(disk.path))
        run_test.passes(f"{many}assert_applied('AddIAddConstant')")
        for fixture in ("assert_applied", "assert_not_applied"):
            [line] = run_test.fails(f"{many}{fixture}('symbol-dce')")
            assert line.startswith("Whether symbol-dce applies is unknown. The recording '")
            assert f"{disk.path}/actiondbg-attach" in line
        run_test.passes(f"{many}actiondbg_actions.find(); assert len(actiondbg_actions) > 9")
        warned = run_test.last.stdout.str()
        assert warned.count("UserWarning: The recording") == 1
