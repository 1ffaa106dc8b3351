"""Reports of findings for other programs: SARIF 2.1.0 and JUnit's XML."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Sequence
from pathlib import Path
from urllib.parse import quote
from xml.etree import ElementTree

from actiondbg.lint.rules import Finding, Rule
from actiondbg.support.counts import counted
from actiondbg.version import VERSION

_SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)


def sentence_of(finding: Finding) -> str:
    """Return what a finding says, as one sentence."""
    detail = f" ({finding.detail})" if finding.detail else ""
    return f"{finding.subject} {finding.declared.meaning}{detail}."


def command_of(finding: Finding) -> str:
    """Return the command of the smallest run that shows a finding, as a shell reads it."""
    return shlex.join(finding.place.command)


def sarif_log(findings: Sequence[Finding], rules: Sequence[Rule]) -> dict[str, object]:
    """Return a log of SARIF 2.1.0; ``rules`` are those that were checked."""
    order = {rule.name: at for at, rule in enumerate(rules)}
    driver = {
        "name": "actiondbg",
        "version": VERSION,
        "rules": [
            {
                "id": rule.name,
                "shortDescription": {"text": f"A pattern or pass {rule.meaning}."},
                "help": {"text": rule.advice},
            }
            for rule in rules
        ],
    }
    results = [_result(each, order[each.rule]) for each in findings]
    return {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": results}],
    }


def _result(finding: Finding, rule: int) -> dict[str, object]:
    place = finding.place
    result: dict[str, object] = {
        "ruleId": finding.rule,
        "ruleIndex": rule,
        "level": "warning",
        "message": {"text": f"{sentence_of(finding)} {finding.declared.advice}"},
        "partialFingerprints": {"subject/v1": f"{finding.rule}/{finding.subject}"},
        "properties": {
            "command": list(place.command),
            "cwd": place.cwd,
            "action": place.ordinal,
            "times": finding.times,
            "runs": finding.runs,
        },
    }
    if place.file is not None and place.line:
        physical = {
            "artifactLocation": {"uri": quote(place.file)},
            "region": {"startLine": place.line},
        }
        result["locations"] = [{"physicalLocation": physical}]
    return result


def junit_text(
    findings: Sequence[Finding], rules: Sequence[Rule], runs: int, checked: Collection[str]
) -> str:
    """Return JUnit's XML of some runs: a failure for each finding, a success for each other rule
    of which the name is among the checked ones; the rest is skipped.
    """
    broken = {each.rule for each in findings}
    kept = [rule for rule in rules if rule.name not in broken]
    skipped = [rule for rule in kept if rule.name not in checked]
    suite = ElementTree.Element(
        "testsuite",
        name="actiondbg lint",
        tests=str(len(findings) + len(kept)),
        failures=str(len(findings)),
        skipped=str(len(skipped)),
    )
    for each in findings:
        case = ElementTree.SubElement(suite, "testcase", classname=each.rule, name=each.subject)
        failure = ElementTree.SubElement(case, "failure", message=sentence_of(each))
        failure.text = f"{each.declared.advice}\n{command_of(each)}\n"
        if each.place.file is not None:
            case.set("file", str(Path(each.place.file)))
            case.set("line", str(each.place.line or 0))
    for rule in kept:
        name = f"in {counted(runs, 'run')}"
        case = ElementTree.SubElement(suite, "testcase", classname=rule.name, name=name)
        if rule in skipped:
            ElementTree.SubElement(case, "skipped", message="not checked: use --rerun")
    whole = ElementTree.Element("testsuites")
    whole.append(suite)
    ElementTree.indent(whole)
    text = ElementTree.tostring(whole, encoding="unicode", xml_declaration=True)
    # Without the characters that XML 1.0 does not have, as names may have any.
    return "".join(each for each in text if each >= " " or each in "\t\n\r") + "\n"
