"""The search for what breaks the rules in recordings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING, Any

from actiondbg.lint.rules import DEFAULT_RULES, Finding, FindingPlace, Findings, Rule
from actiondbg.recording.query.interruption import fetch_rows

if TYPE_CHECKING:
    from actiondbg.recording.recording import Recording

_LEAST_RUNS = 2  # that show a finding which needs several runs


class Linter:
    """Finds what breaks the rules in recordings, which several threads may add.

    Args:
        rules: to check; those that need checks find nothing in a recording without them.
    """

    def __init__(self, rules: Sequence[Rule] = DEFAULT_RULES) -> None:
        self.rules = tuple(rules)  # that are checked
        self.findings = Findings()  # so far
        self.runs = 0  # the number of recordings
        self.unchecked = 0  # those of them without checks
        self.checked = set[str]()  # the names of the rules that were checked in a run
        self._possible = Findings()  # of rules that need several runs
        self._refuted: set[tuple[str, str]] = set()  # keys of findings that a run contradicts
        self._lock = Lock()
        self._databases: list[Any] = []  # that no thread uses now

    def add(self, recording: Recording, path: str | None = None, test: str | None = None) -> None:
        """Check a recording; ``path`` is for the findings, None if it will be gone."""
        from actiondbg.recording.query.database import open_database

        header = recording.header
        place = FindingPlace(header.argv, header.cwd, recording.count, path, test)
        found: list[tuple[bool, Finding]] = []
        with self._lock:
            database = self._databases.pop() if self._databases else None
        database = open_database(recording, database)
        shown = [
            rule
            for rule in self.rules
            if rule.reads_recordings and (header.checks or rule.need != "checks")
        ]
        for rule in shown:
            for query in rule.queries(recording, database):
                found += _found(database, rule, query, place)
        with self._lock:
            self._databases.append(database)
            self.checked.update(rule.name for rule in shown)
            self.runs += 1
            self.unchecked += not header.checks
            for is_refuted, finding in found:
                of_runs = finding.declared.need == "runs"
                (self._possible if of_runs else self.findings).add([finding])
                if is_refuted:
                    self._refuted.add(finding.key)

    def add_findings(self, found: Iterable[Finding]) -> None:
        """Add what a comparison of runs shows."""
        with self._lock:
            self.findings.add(found)
            self.checked.update(each.name for each in self.rules if each.need == "repetition")

    def finish(self) -> Findings:
        """Return the findings, with those that need all runs."""
        found = Findings()
        found.add(self.findings)
        open_ones = (each for each in self._possible if each.key not in self._refuted)
        found.add(each for each in open_ones if each.runs >= _LEAST_RUNS)
        return found


def _found(
    database: Any, rule: Rule, query: str, place: FindingPlace
) -> Iterator[tuple[bool, Finding]]:
    """Yield the findings of a rule in a recording, each subject once, and whether it is refuted."""
    refuted = "refuted" if rule.need == "runs" else "false"
    rows = fetch_rows(
        database,
        f"""
        SELECT found.subject, arg_min(found.detail, ordinal), min(ordinal), count(*),
               sum(CASE tag WHEN 'pass-execution' THEN duration_ns ELSE self_ns END),
               bool_or({refuted})
        FROM ({query}) AS found JOIN actions USING (ordinal)
        GROUP BY found.subject ORDER BY min(ordinal)
        """,
    )
    for subject, detail, ordinal, times, spent, is_refuted in rows:
        at = _placed(database, place, ordinal)
        seconds = (spent or 0) / 1e9
        yield is_refuted, Finding(rule.name, subject, detail or "", at, times, 1, seconds)


def _placed(database: Any, place: FindingPlace, ordinal: int) -> FindingPlace:
    (row,) = fetch_rows(
        database, "SELECT file, line, function, op FROM actions WHERE ordinal = ?", [ordinal]
    )
    file, line, function, op = row
    return replace(place, ordinal=ordinal, file=file, line=line, function=function, op=op)
