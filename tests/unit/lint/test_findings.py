"""Findings: how those of several runs are joined, and how baselines and reports are written."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from sarif_pydantic import Sarif  # pyright: ignore[reportMissingTypeStubs]

from actiondbg.commands.render.lint import lint_text
from actiondbg.errors import ActiondbgError
from actiondbg.lint.reports import junit_text, sarif_log
from actiondbg.lint.rules import (
    RULES,
    Finding,
    FindingPlace,
    Findings,
    baseline_text,
    read_baseline,
)

LARGE = FindingPlace(
    ("mlir-opt", "large.mlir"), "/tests", 900, None, None, 70, "large.mlir", 7, "f", "arith.addi"
)
SMALL = FindingPlace(
    ("mlir-opt", "a b.mlir"), "/tests", 9, None, None, 3, "a b.mlir", 2, "g", "arith.addi"
)


def found(
    place: FindingPlace = SMALL, rule: str = "not-notified", subject: str = "Fold"
) -> Finding:
    """Return a finding."""
    return Finding(rule, subject, "modified arith.addi", place, 2, 1, 0.5)


@pytest.mark.parametrize("places", [(LARGE, SMALL), (SMALL, LARGE)])
def test_a_finding_of_several_runs_is_one_at_the_smallest(
    places: tuple[FindingPlace, FindingPlace],
) -> None:
    findings = Findings()
    findings.add([found(places[0])])
    findings.add([found(places[1])])
    (one,) = findings
    assert (one.place, one.times, one.runs, one.seconds) == (SMALL, 4, 2, 1.0)


def test_findings_are_in_the_order_of_the_rules_and_the_most_frequent_first() -> None:
    findings = Findings()
    findings.add([found(rule="dead-pass", subject="cse"), found(subject="Rare")])
    findings.add([found(subject="Often"), found(subject="Often")])
    assert [each.subject for each in findings] == ["Often", "Rare", "cse"]


def test_a_baseline_has_the_rules_and_subjects(tmp_path: Path) -> None:
    path = tmp_path / "known.json"
    path.write_bytes(baseline_text([found(), found(LARGE), found(subject='A<"b">')]))
    assert read_baseline(path) == {("not-notified", "Fold"), ("not-notified", 'A<"b">')}
    path.write_bytes(baseline_text([]))
    assert read_baseline(path) == set()


@pytest.mark.parametrize("text", ["", "[]", "3", "{}", '{"format": "actiondbg lint baseline"}'])
def test_another_file_is_no_baseline(tmp_path: Path, text: str) -> None:
    path = tmp_path / "other.json"
    path.write_text(text)
    with pytest.raises(ActiondbgError, match="is not a baseline of 'actiondbg lint'"):
        read_baseline(path)
    with pytest.raises(ActiondbgError, match="cannot be read: No such file"):
        read_baseline(tmp_path / "none.json")


def test_sarif_has_the_rules_places_and_identities() -> None:
    unplaced = found(FindingPlace(("tool",), "/", 1), "unstable-output", "tool")
    log = json.loads(json.dumps(sarif_log([found(), unplaced], RULES)))
    (run,) = Sarif.model_validate(log).runs
    first, second = run.results or []
    assert run.tool.driver.rules is not None
    assert [run.tool.driver.rules[each.rule_index or 0].id for each in (first, second)] == [
        "not-notified",
        "unstable-output",
    ]
    written = log["runs"][0]["results"]
    assert written[0]["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "a%20b.mlir"},
        "region": {"startLine": 2},
    }
    assert "locations" not in written[1]
    assert written[0]["partialFingerprints"] == {"subject/v1": "not-notified/Fold"}


def test_junit_has_a_failure_for_each_finding_and_a_success_for_each_checked_rule() -> None:
    odd = found(subject="A<\x01&>")
    checked = {each.name for each in RULES if each.need != "repetition"}
    root = ElementTree.fromstring(junit_text([found(), odd], RULES, 4, checked))
    (suite,) = root
    counts = [suite.get(name) for name in ("tests", "failures", "skipped")]
    assert counts == [str(len(RULES) + 1), "2", str(len(RULES) - len(checked))]
    skipped = [case.get("classname") for case in suite if case.find("skipped") is not None]
    assert skipped == [each.name for each in RULES if each.need == "repetition"]
    failed = [case for case in suite if case.find("failure") is not None]
    assert [case.get("name") for case in failed] == ["Fold", "A<&>"]
    text = failed[0][0].text
    assert text is not None and "mlir-opt 'a b.mlir'" in text


def test_the_text_names_the_command_where_there_are_several() -> None:
    text = lint_text([found()], 1, 0)
    assert (
        "  Fold: modified arith.addi; 2 times, 500 ms\n    a b.mlir:2, in @g, action #3\n" in text
    )
    assert "mlir-opt" not in text
    assert text.endswith("1 finding in 1 run.")
    both = lint_text([found(), found(LARGE, subject="Other")], 2, 3)
    assert "    mlir-opt 'a b.mlir'\n" in both
    assert both.endswith("2 findings in 2 runs, 3 known.")
    assert lint_text([], 1, 0) == "0 findings in 1 run."


def test_a_line_that_is_not_known_is_not_shown() -> None:
    text = lint_text([found(replace(SMALL, line=0))], 1, 0)
    assert "    a b.mlir, in @g, action #3\n" in text
