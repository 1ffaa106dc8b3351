"""The search for what breaks the rules, over recordings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING, Any

from actiondbg.lint.rules import DEFAULT_RULES, Finding, Findings, Place, Rule
from actiondbg.recording.query.interruption import fetch_rows

if TYPE_CHECKING:
    from actiondbg.recording.recording import Recording

# Passes that only run others have the outcome of these, and no cost of their own.
_PASSES = """
    SELECT name, bool_or(outcome <> 'unchanged'), count(*), sum(duration_ns), min(ordinal)
    FROM actions AS pass
    WHERE tag = 'pass-execution' AND name NOT LIKE 'mlir::detail::%Adaptor'
      AND NOT EXISTS (FROM actions WHERE parent = pass.ordinal AND tag = 'pass-execution')
    GROUP BY name
"""
_LEAST_RUNS = 2  # in which a pass does nothing, before it counts as dead


class Linter:
    """Finds what breaks the rules in recordings, which several threads may add.

    Args:
        rules: to check; those that need checks find nothing in a recording without them.

    Attributes:
        rules: that are checked.
        findings: so far.
        runs: the number of recordings.
        unchecked: those of them without checks.
    """

    def __init__(self, rules: Sequence[Rule] = DEFAULT_RULES) -> None:
        self.rules = tuple(rules)
        self.findings = Findings()
        self.runs = 0
        self.unchecked = 0
        self._passes: dict[str, Finding] = {}
        self._active: set[str] = set()
        self._lock = Lock()
        self._databases: list[Any] = []  # that no thread uses now

    def add(self, recording: Recording, path: str | None = None, test: str | None = None) -> None:
        """Check a recording.

        Args:
            recording: of a run.
            path: of it, for the findings; None if it will be gone.
            test: that the run belongs to.
        """
        from actiondbg.recording.query.database import open_database

        header = recording.header
        place = Place(header.argv, header.cwd, recording.count, path, test)
        found: list[Finding] = []
        passes: list[tuple[bool, Finding]] = []
        with self._lock:
            database = self._databases.pop() if self._databases else None
        database = open_database(recording, database)
        for rule in self.rules:
            if rule.query and (header.checks or rule.need != "checks"):
                found += _found(database, rule, place)
        if any(rule.need == "runs" for rule in self.rules):
            passes += _passes(database, place)
        with self._lock:
            self._databases.append(database)
            self.runs += 1
            self.unchecked += not header.checks
            self.findings.add(found)
            self._note_passes(passes)

    def add_findings(self, found: Iterable[Finding]) -> None:
        """Add what a comparison of runs shows."""
        with self._lock:
            self.findings.add(found)

    def finish(self) -> Findings:
        """Return the findings, with those that need all runs."""
        dead = (each for name, each in self._passes.items() if name not in self._active)
        self.findings.add(each for each in dead if each.runs >= _LEAST_RUNS)
        return self.findings

    def _note_passes(self, passes: Iterable[tuple[bool, Finding]]) -> None:
        for has_changed, finding in passes:
            name = finding.subject
            if has_changed:
                self._active.add(name)
            known = self._passes.get(name)
            self._passes[name] = finding if known is None else known.joined(finding)


def _passes(database: Any, place: Place) -> Iterator[tuple[bool, Finding]]:
    """Yield whether each pass of a recording changed something, and the finding if none does."""
    for name, has_changed, times, duration, ordinal in fetch_rows(database, _PASSES):
        at = _placed(database, place, ordinal)
        yield has_changed, Finding("dead-pass", name, "", at, times, 1, (duration or 0) / 1e9)


def _found(database: Any, rule: Rule, place: Place) -> Iterator[Finding]:
    """Yield the findings of a rule in a recording, each subject once."""
    rows = fetch_rows(
        database,
        f"""
        SELECT found.subject, arg_min(found.detail, ordinal), min(ordinal), count(*),
               sum(actions.self_ns)
        FROM ({rule.query}) AS found JOIN actions USING (ordinal)
        GROUP BY found.subject ORDER BY min(ordinal)
        """,
    )
    for subject, detail, ordinal, times, spent in rows:
        at = _placed(database, place, ordinal)
        yield Finding(rule.name, subject, detail or "", at, times, 1, (spent or 0) / 1e9)


def _placed(database: Any, place: Place, ordinal: int) -> Place:
    (row,) = fetch_rows(
        database, "SELECT file, line, function, op FROM actions WHERE ordinal = ?", [ordinal]
    )
    file, line, function, op = row
    return replace(place, ordinal=ordinal, file=file, line=line, function=function, op=op)
