"""A tool whose patterns break rules on purpose, and the command that finds them."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.fakes import command_line

# The patterns of tests/inputs/pattern_plugin.cpp, with the rules that each breaks.
BROKEN = {
    "failed-after-change": {"changed-but-failed"},
    "failed-after-undo": set[str](),
    "nothing": {"success-without-change"},
    "location": set[str](),
    "changed-elsewhere": set[str](),
    "location-lost": {"lost-location"},
    "location-of-source": set[str](),
    "constant-without-location": set[str](),
    "location-in-region": set[str](),
    "location-gone": set[str](),
    "modified-silently": {"not-notified"},
    "neighbour-modified-silently": {"not-notified"},
    "modified": set[str](),
    "erased-silently": {"not-notified"},
    "erased": set[str](),
    "moved-silently": {"not-notified"},
    "moved": set[str](),
    "inserted-silently": {"not-notified"},
    "inserted": set[str](),
    "uses-replaced-silently": {"not-notified"},
    "replaced": set[str](),
    "endless": {"not-notified", "no-convergence"},
    "long": {"not-notified"},
    "invalid": {"invalid-ir"},
    "invalid-next": {"invalid-ir"},
    "invalid-before": set[str](),
    "module-modified": set[str](),
    "module-modified-silently": {"not-notified"},
    "failed-after-insertion": {"changed-but-failed"},
    "unstable": {"unstable-output"},
    "one-order": {"order-dependent"},
    "any-order": set[str](),
    "reads-erased": {"use-after-erase"},
}
# What only other runs of the same command show.
REPEATED = {"unstable-output", "order-dependent", "use-after-erase"}
FUNCTION = """\
func.func @{name}(%a: i32) -> i64 attributes {{loads = #arith.overflow<none>}} {{
  "test.previous"(%a) : (i32) -> ()
  %0 = builtin.unrealized_conversion_cast %a : i32 to i64 {{rule = "{rule}"}}
  "test.next"(%a) : (i32) -> ()
  %1 = builtin.unrealized_conversion_cast %0 : i64 to i32
  %2 = builtin.unrealized_conversion_cast %1 : i32 to i64
  return %2 : i64
}}
"""
Lint = Callable[..., subprocess.CompletedProcess[str]]


def source(*rules: str) -> str:
    """Return a function for each pattern."""
    text = "".join(FUNCTION.format(name=each.replace("-", "_"), rule=each) for each in rules)
    begin, name, rest = text.partition("@location_of_source")
    return begin + name + rest.replace("-> ()\n", "-> () loc(unknown)\n", 1)


@pytest.fixture
def tool(mlir_opt: str, pattern_plugin: Path, tmp_path: Path) -> list[str]:
    """The tool with the patterns, on a function for each."""
    (tmp_path / "rules.mlir").write_text(source(*BROKEN))
    return [
        mlir_opt,
        "rules.mlir",
        "--allow-unregistered-dialect",
        f"--load-pass-plugin={pattern_plugin}",
        "--pass-pipeline=builtin.module(func.func(rules))",
    ]


@pytest.fixture
def lint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lint:
    """Run ``actiondbg lint``."""
    monkeypatch.chdir(tmp_path)

    def run(*words: str | os.PathLike[str]) -> subprocess.CompletedProcess[str]:
        return command_line.run("lint", *words)

    return run


def by_pattern(text: str) -> dict[str, set[str]]:
    """Return the rules that each pattern breaks, from an answer in JSON."""
    broken: dict[str, set[str]] = {}
    for each in json.loads(text)["findings"]:
        broken.setdefault(each["subject"], set()).add(each["rule"])
    return broken
