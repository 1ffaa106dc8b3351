"""Bisections of a bug that depends on the tool's addresses."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

import actiondbg
from actiondbg.bisection import Result, plain_runs
from actiondbg.bisection.plain_runs import PlainRuns
from tests.conftest import PYPI
from tests.fakes import command_line
from tests.fakes.branches import PASS, last_printed, write_branches

# One run in three has the other wrong output, so that all of these miss it by a chance of 1e-7.
LAYOUTS = 40


@pytest.fixture
def branches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    return write_branches(Path("branches.mlir"))


def wrong_constant(mlir_opt: str, branches: str) -> str:
    """Return the constant that the tool prints with fixed addresses instead of the unknown value.

    A session's tool may print another one: the agent's memory is in the tool's heap too.
    """
    printed: list[str] = []

    def is_good(output: Path) -> bool:
        printed.append(last_printed(output.read_text()))
        return True

    actiondbg.bisect([mlir_opt, branches, PASS], is_good)
    assert printed[0].startswith("%c")
    return printed[0]


def reproduces(result: Result) -> str:
    """Check that the reproducer shows good and bad, again too; return what it printed."""
    assert result.reproducer is not None and result.reproducer_verified is True, result.notes
    script = Path(result.reproducer) / "repro.sh"
    done = subprocess.run(["sh", script], capture_output=True, text=True, cwd="/")
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    return done.stdout


def test_it_is_bad_with_fixed_addresses(mlir_opt: str, branches: str) -> None:
    wrong = wrong_constant(mlir_opt, branches)
    test = f"! grep -c 'vector.print {wrong} ' {{}} | grep -q 2"
    found = [
        actiondbg.bisect([mlir_opt, branches, PASS], test, output=output)
        for output in (None, "out")
    ]
    for result in found:
        assert (result.verdict, result.confirmed, result.layout) == ("found", "good", 0)
        assert result.culprit is not None
        assert result.culprit.name == "MaterializeKnownConstantValues"
        assert 4 <= result.plain_runs <= 8
        noted = f"is bad in {result.plain_bad} of {result.plain_runs} runs with random addresses"
        is_noted = any(noted in note for note in result.notes)
        assert is_noted == (result.plain_bad < result.plain_runs)
        if result.reproducer_verified and result.plain_bad:  # else 30 tries may be too few again
            reproduces(result)
        elif result.reproducer and not result.reproducer_verified:
            # The agent's memory may lead to an output that is rare without it.
            assert any(note.startswith("Tried") for note in result.notes)
    assert len({result.culprit.ordinal for result in found if result.culprit}) == 1


def test_it_is_bad_with_random_addresses_only(mlir_opt: str, branches: str) -> None:
    right = wrong_constant(mlir_opt, branches)

    def is_good(output: Path) -> bool:
        printed = last_printed(output.read_text())
        return printed == right or not printed.startswith("%c")

    result = actiondbg.bisect([mlir_opt, branches, PASS], is_good, repeat=LAYOUTS)
    assert (result.verdict, result.confirmed) == ("found", "good")
    assert 0 < result.layout <= LAYOUTS and result.plain_runs == 8
    assert result.culprit is not None
    (note,) = [note for note in result.notes if "good with fixed addresses" in note]
    place = f"#{result.culprit.ordinal} apply-pattern MaterializeKnownConstantValues on func.func"
    assert f"bad in run {result.layout} with random ones" in note
    assert f"It differs from the good run first at {place}" in note


def test_its_reproducer_tries_often_enough(mlir_opt: str, branches: str) -> None:
    right = wrong_constant(mlir_opt, branches)
    Path("judge.sh").write_text(
        "last=$(grep -o 'vector.print %[^ ]*' \"$1\" | tail -n 1)\n"
        f"case $last in *{right}|*%[0-9]*) exit 0 ;; esac\n"
        "exit 1\n"
    )
    words = ["--repeat", str(LAYOUTS), "--test", "sh judge.sh {}", "-o", "out"]
    done = command_line.run("bisect", *words, "--", mlir_opt, branches, PASS)
    assert done.returncode == 0, done.stderr
    assert "Note: The whole run is good with fixed addresses, and bad in run" in done.stdout
    assert re.search(r"Note: The plain tool is bad in \d of 8 runs with random", done.stdout)
    assert "out/repro.sh (verified: shows good and bad)" in done.stdout
    script = subprocess.run(["sh", "out/repro.sh"], capture_output=True, text=True)
    assert (script.returncode, script.stderr) == (0, ""), script.stdout
    assert re.search(r"bad, expected bad: the command as it is \(try \d+ of \d+\)", script.stdout)
    assert "All " in script.stdout


def test_nothing_is_bad(mlir_opt: str, branches: str) -> None:
    result = actiondbg.bisect([mlir_opt, branches, PASS], "true")
    assert result.verdict == "not-bad"
    assert "It was not bad in 8 runs with random addresses either." in result.message
    # Outputs of the same content are judged once.
    assert (result.trials, result.oracle_runs < result.trials) == (9, True)


def test_a_reproducer_is_repeated_where_fixed_addresses_do_not_show_the_bug(
    branches: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Few plain runs may all be bad by chance, and tell nothing then.

    With the other tools, what is printed with fixed addresses is what the session has, too.
    """
    mlir_opt = str(PYPI / "mlir-opt")

    def no_runs(_: PlainRuns) -> list[str]:
        return []

    monkeypatch.setattr(PlainRuns, "first", no_runs)
    plain = last_printed(
        subprocess.run(
            ["setarch", "-R", mlir_opt, branches, PASS], capture_output=True, text=True, check=True
        ).stdout
    )
    with actiondbg.launch([mlir_opt, branches, PASS]) as session:
        session.run()
        if last_printed(session.target.output()) == plain:
            pytest.skip("the addresses of this machine give the session the plain tool's order")
    # What the stock tool prints with fixed addresses cannot be judged; another constant is bad.
    Path("judge.sh").write_text(
        "last=$(grep -o 'vector.print %[^ ]*' \"$1\" | tail -n 1)\n"
        f"case $last in *{plain}) exit 125 ;; *%c*) exit 1 ;; esac\n"
    )
    result = actiondbg.bisect(
        [mlir_opt, branches, PASS], "sh judge.sh {}", output="out", repeat=LAYOUTS
    )
    assert (result.verdict, result.plain_runs) == ("found", 0), result.message
    assert "(try " in reproduces(result)
    assert any("with random addresses, as the plain tool does not" in one for one in result.notes)


def test_it_is_untestable_with_fixed_addresses(
    mlir_opt: str, branches: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The plain tool has another output in one run of ten.
    monkeypatch.setattr(plain_runs, "_MORE_RUNS", 3 * LAYOUTS)
    right = wrong_constant(mlir_opt, branches)
    test = (
        f"last=$(grep -o 'vector.print %[^ ]*' {{}} | tail -n 1); "
        f"case $last in *{right}) exit 125 ;; *%c*) exit 1 ;; esac"
    )
    result = actiondbg.bisect([mlir_opt, branches, PASS], test, repeat=LAYOUTS)
    assert (result.verdict, result.confirmed) == ("found", "good"), result.message
    assert 0 < result.layout <= LAYOUTS
