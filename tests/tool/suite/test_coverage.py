"""Coverage of a suite: states, counts against mlir-opt's own debug output, comparisons, CI."""

from __future__ import annotations

import json
import re
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.elements import some
from tests.paths import COMMAND
from tests.tool.suite.conftest import ADDS, query, record, run

BUILDS = ("pypi",)
# A greedy rewrite with nested regions, and a conversion that undoes what it did.
INPUTS = {
    "adds.mlir": ADDS,
    "loop.mlir": """\
func.func @g(%n: index, %m: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = arith.constant 5 : i32
  scf.for %i = %c0 to %n step %c1 {
    %y = arith.addi %x, %x : i32
    memref.store %y, %m[%i] : memref<?xi32>
  }
  return
}
""",
    "bad.mlir": """\
func.func @h(%v: vector<4xi32>, %i: index) -> i32 {
  %x = arith.index_cast %i : index to i32
  %y = arith.addi %x, %x : i32
  %z = "vector.unknown"(%v, %y) : (vector<4xi32>, i32) -> i32
  return %z : i32
}
""",
}
RUNS = (
    ("adds.mlir", "--canonicalize"),
    ("loop.mlir", "--canonicalize", "--convert-scf-to-cf"),
    ("loop.mlir", "--convert-scf-to-cf", "--convert-to-llvm"),
    ("bad.mlir", "--allow-unregistered-dialect", "--convert-arith-to-llvm"),
    ("adds.mlir", "--pass-pipeline=builtin.module(func.func(cse,canonicalize{max-iterations=2}))"),
)


@pytest.fixture
def suite(folder: Path, mlir_opt: str) -> str:
    """A recorded suite of RUNS."""
    for name, text in INPUTS.items():
        (folder / name).write_text(text)
    lines = [" ".join([mlir_opt, *map(repr, words), "-o out.mlir"]) for words in RUNS]
    (folder / "driver.sh").write_text("\n".join(lines) + "\ntrue\n")
    done = record("bash", "driver.sh")
    assert done.returncode == 0, done.stderr
    return "suite"


def coverage(*options: str, folder: str = "suite") -> dict[str, Any]:
    done = run(COMMAND, "suite", "coverage", folder, "--json", *options)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def states(answer: dict[str, Any], kind: str) -> dict[tuple[str, str], str]:
    return {
        (one["name"], one["root"]): one["state"] for one in answer["entries"] if one["kind"] == kind
    }


_TRIED = re.compile(r'pattern-application.*Trying to match "(.*)"$')
_RESULT = re.compile(r"pattern-application.*-> matchAndRewrite (success|fail)")


def debug_counts(command: list[str]) -> tuple[Counter[str], Counter[str]]:
    """How often each named pattern was tried and succeeded, as mlir-opt itself reports it."""
    words = [*command, "-debug-only=pattern-application", "--mlir-disable-threading"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    running: list[str] = []
    tried: Counter[str] = Counter()
    applied: Counter[str] = Counter()
    for line in done.stderr.splitlines():
        if (begin := _TRIED.search(line)) is not None:
            running.append(begin[1])
            tried[begin[1]] += 1
        elif (end := _RESULT.search(line)) is not None:
            name = running.pop()
            applied[name] += end[1] == "success"
    return tried, +applied


def test_counts_of_patterns(suite: str, mlir_opt: str) -> None:
    tried: Counter[str] = Counter()
    applied: Counter[str] = Counter()
    for words in RUNS:
        more_tried, more_applied = debug_counts([mlir_opt, *words, "-o", "/dev/null"])
        tried += more_tried
        applied += more_applied
    found: Counter[str] = Counter()
    succeeded: Counter[str] = Counter()
    for one in coverage("--kind", "pattern")["entries"]:
        found[one["full_name"]] += one["tried"]
        succeeded[one["full_name"]] += one["applied"]
    assert len(tried) > 15 and len(applied) > 5
    assert {name: found[name] for name in tried if name} == {
        name: count for name, count in tried.items() if name
    }
    assert {name: succeeded[name] for name in applied if name} == {
        name: count for name, count in applied.items() if name
    }
    unnamed = sum(count for name, count in found.items() if name not in tried)
    assert unnamed == tried[""], "patterns without a debug name have the name of their function"


def test_states(suite: str) -> None:
    answer = coverage()
    patterns = states(answer, "pattern")
    assert patterns["AddIAddConstant", "arith.addi"] == "applied"
    assert patterns["AddISubConstantRHS", "arith.addi"] == "tried"
    assert patterns["MulIMulIConstant", "arith.muli"] == "never"
    assert patterns["ForLowering", "scf.for"] == "applied"
    assert patterns["WhileLowering", "scf.while"] == "never"
    totals = answer["totals"]["pattern"]
    assert totals["applied"] + totals["tried"] + totals["never"] == len(patterns)
    passes = states(answer, "pass")
    assert passes["canonicalize", ""] == "applied"
    assert not any("Adaptor" in name for name, _ in passes)
    folds = states(answer, "fold")
    assert folds["arith.addi", ""] == "applied"
    assert folds["scf.for", ""] == "tried"


def test_reasons_options_and_commands(suite: str) -> None:
    entries = {(one["kind"], one["name"], one["root"]): one for one in coverage()["entries"]}
    failed = entries["pattern", "AddISubConstantRHS", "arith.addi"]
    assert failed["reasons"][0]["times"] > 0
    assert "castedOp" in failed["reasons"][0]["text"]
    canonicalize = entries["pass", "canonicalize", ""]
    assert canonicalize["options"] == [
        {"text": "", "times": 2},
        {"text": "max-iterations=2", "times": 1},
    ]
    applied = entries["pattern", "AddIAddConstant", "arith.addi"]
    shown = [one["command"] for one in applied["examples"]]
    assert shown and all("adds.mlir" in command for command in shown)
    done = subprocess.run(["sh", "-c", shown[0]], cwd="/", capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    never = entries["pattern", "WhileLowering", "scf.while"]
    assert "--convert-scf-to-cf" in never["examples"][0]["command"]


def test_text(suite: str) -> None:
    done = run(COMMAND, "suite", "coverage", "suite", "-n", "2")
    assert done.returncode == 0, done.stderr
    totals = coverage()["totals"]["pattern"]
    known = totals["applied"] + totals["tried"] + totals["never"]
    assert f"{known:,} patterns: {totals['applied']} applied" in done.stdout
    assert f"... and {totals['never'] - 2} more (--all)" in done.stdout
    everything = run(COMMAND, "suite", "coverage", "suite", "--all", "--state", "never")
    assert "more (--all)" not in everything.stdout
    never = {name for (name, _), state in states(coverage(), "pattern").items() if state == "never"}
    assert all(name[:60] in everything.stdout for name in some(never))


def test_selection(suite: str) -> None:
    names = {name for name, _ in states(coverage("--only", "AddI*"), "pattern")}
    assert "AddIAddConstant" in names
    assert all(name.startswith("AddI") for name in names)
    assert set(coverage("--kind", "pass")["totals"]) == {"pass"}
    entries = coverage("--kind", "pattern", "--state", "never")["entries"]
    assert {one["state"] for one in entries} == {"never"}
    refused = run(COMMAND, "suite", "coverage", "suite", "--only", "a[")
    assert refused.returncode == 2


def test_fail_under(suite: str) -> None:
    percent = coverage()["totals"]["pattern"]["percent"]
    assert 0 < percent < 100
    words = (COMMAND, "suite", "coverage", "suite", "-n1", "--fail-under")
    assert run(*words, str(percent - 0.1)).returncode == 0
    done = run(*words, f"{percent + 0.1:.3f}%")
    assert (done.returncode, "is below" in done.stderr) == (1, True)
    assert run(*words, "0", "--kind", "pass").returncode == 0
    assert run(*words, "101").returncode == 2
    done = run(*words, "0", "--only", "NoSuchPattern")
    assert (done.returncode, "No run had a pattern" in done.stderr) == (1, True)


def test_against(suite: str, mlir_opt: str) -> None:
    Path("suite").rename("before")
    done = record("bash", "-c", f"{mlir_opt} loop.mlir --canonicalize -o out.mlir")
    assert done.returncode == 0
    found = {
        (one["kind"], one["name"]): (one["before"], one["after"], one["gain"])
        for one in coverage("--against", "before")["differences"]
    }
    assert found["pattern", "AddIAddConstant"] == ("applied", "never", False)
    assert found["pattern", "ForLowering"] == ("applied", None, False)
    back = {
        (one["kind"], one["name"]): (one["before"], one["after"], one["gain"])
        for one in coverage("--against", "suite", folder="before")["differences"]
    }
    assert back == {key: (new, old, not gain) for key, (old, new, gain) in found.items()}
    text = run(COMMAND, "suite", "coverage", "suite", "--against", "before", "--all").stdout
    assert re.search(r"AddIAddConstant on arith.addi +applied -> never", text)
    assert text.startswith("Lost (")
    same = run(COMMAND, "suite", "coverage", "suite", "--against", "suite").stdout
    assert same == "No entry differs.\n"


def test_page(suite: str) -> None:
    done = run(COMMAND, "suite", "coverage", "suite", "-n1", "--html", "coverage.html")
    assert done.returncode == 0, done.stderr
    page = Path("coverage.html").read_text()
    for one in coverage()["entries"]:
        assert f'data-kind="{one["kind"]}" data-state="{one["state"]}"' in page
    assert page.count("<tr data-kind") == len(coverage()["entries"])
    assert "http" not in page.replace("http-equiv", "")
    refused = run(COMMAND, "suite", "coverage", "suite", "--html", "missing/coverage.html")
    assert refused.returncode == 1


def test_sources(suite: str) -> None:
    """The namespace of the suite's patterns decides between two definitions of a name."""
    sources = Path("sources/lib")
    sources.mkdir(parents=True)
    (sources / "Loops.cpp").write_text(
        "namespace {\nstruct ForLowering : Base {\n};\n}\nstruct WhileLowering : Base {};\n"
    )
    (sources / "Other.cpp").write_text("struct ForLowering : Base {};\n")
    words = ("--kind", "pattern", "--sources", "sources/lib")
    places = {(one["name"], one["file"], one["line"]) for one in coverage(*words)["entries"]}
    assert {place for place in places if place[1]} == {("ForLowering", "lib/Loops.cpp", 2)}
    done = run(COMMAND, "suite", "coverage", suite, *words, "--all", "--html", "coverage.html")
    assert re.search(r"ForLowering on scf.for .* lib/Loops\.cpp:2\n", done.stdout)
    page = Path("coverage.html").read_text()
    assert "<h2>Patterns by file</h2>" in page and "lib/Loops.cpp:2<" in page
    refused = run(COMMAND, "suite", "coverage", suite, "--sources", "none")
    assert (refused.returncode, "no folder of sources" in refused.stderr) == (2, True)


def test_index_is_rebuilt_after_more_runs(suite: str, mlir_opt: str) -> None:
    before = query("SELECT count(*) AS runs FROM runs")
    done = record(mlir_opt, "adds.mlir", "--sccp", "-o", "out.mlir", options=("--resume",))
    assert done.returncode == 0
    after = query("SELECT count(*) AS runs FROM runs")
    assert (before[0]["runs"], after[0]["runs"]) == (5, 6)
