"""Coverage: which patterns, passes and folds the runs of a suite applied, tried and left out."""

from __future__ import annotations

import contextlib
import os
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import msgspec

from actiondbg.analysis.pipeline import is_adaptor
from actiondbg.protocol.tags import PASS_TAG, TAG_OF_KIND, TagKind
from actiondbg.suite.folder import SuiteFolder
from actiondbg.suite.index import NO_CONTEXT, connect
from actiondbg.support.globs import glob_matches

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection as Database

Kind: TypeAlias = TagKind
State = Literal["applied", "tried", "never"]
Key: TypeAlias = tuple[Kind, str, str]
STATES: tuple[State, ...] = get_args(State)

# A pass applies if it changes the IR, all others if they report success.
_APPLIED = f"outcome = 'succeeded' OR (outcome = 'unchanged' AND tag <> '{PASS_TAG}')"
_EXAMPLES = 3
_REASONS = 3


class CoverageExample(msgspec.Struct, frozen=True):
    """A run that shows an entry."""

    test: str | None  # the test with the line of its RUN line; None if it is unknown
    command: str  # a line for a shell


class CountedText(msgspec.Struct, frozen=True):
    """A text, such as a reason, and how often it occurred, or in how many runs."""

    text: str
    times: int


class CoverageEntry(msgspec.Struct, kw_only=True):
    """A pattern, a pass, or the fold hook of an operation."""

    kind: Kind  # which of them
    name: str  # the name, without the anonymous namespace
    full_name: str  # with it; of a pass its class
    state: State  # "applied"; "tried", but never applied; "never" tried
    dialect: str = ""  # of the operation; empty for a pass and for a pattern of any operation
    # Of a pattern, the operation that it is tried on; empty for any, or if it is unknown. Patterns
    # of one name with different roots are different entries.
    root: str = ""
    benefit: int | None = None  # of a pattern; None if it is unknown
    applied: int = 0  # how often it applied: a pass that changed the IR, a success of all others
    unchanged: int = 0  # how often it succeeded without a change
    rolled_back: int = 0  # how often its change was undone
    tried: int = 0  # how often it was tried
    runs: int = 0  # the number of runs that applied it
    runs_tried: int = 0  # the number of runs that tried it
    runs_loaded: int = 0  # the number of runs that tried it or had it in a set of patterns
    tests: int = 0  # the number of tests that applied it
    file: str = ""  # where a pattern is defined, if sources were searched and have it; else empty
    line: int = 0  # in this file, from 1; else 0
    reasons: list[CountedText] = []  # the most frequent reasons of its failures
    # Of a pass, the options that command lines gave to it, each with the number of runs.
    options: list[CountedText] = []
    # The shortest runs that applied it, or else tried it, or else had it.
    examples: list[CoverageExample] = []

    @property
    def place(self) -> str:
        """The file and line of its definition; empty if that is unknown."""
        return f"{self.file}:{self.line}" if self.file else ""

    @property
    def key(self) -> Key:
        """What identifies it, in other suites, too."""
        return self.kind, self.name, self.root


class Totals(msgspec.Struct, frozen=True):
    """The number of entries of a kind in each state."""

    applied: int
    tried: int
    never: int

    @property
    def all(self) -> int:
        return self.applied + self.tried + self.never

    @property
    def percent(self) -> float:
        """The share that was applied; 100 of nothing."""
        return 100 * self.applied / self.all if self.all else 100.0


@dataclass
class Coverage:
    """The entries of a suite."""

    entries: list[CoverageEntry]  # by kind and name
    runs: int  # the number of runs
    tests: int  # the number of tests that they belong to
    # The number of runs with attempts of patterns whose sets of patterns are unknown, so that what
    # they never tried is unknown, too.
    blind: int
    missing: int = 0  # the number of runs that are not recorded, or not completely

    def of(self, kind: Kind, state: State | None = None) -> list[CoverageEntry]:
        """Return the entries of a kind, in a state or in all."""
        return [one for one in self.entries if one.kind == kind and state in (None, one.state)]

    def totals(self, kind: Kind) -> Totals:
        """Count the entries of a kind by state."""
        return Totals(*(len(self.of(kind, state)) for state in STATES))

    @cached_property
    def by_key(self) -> dict[Key, CoverageEntry]:
        """The entries by kind, name and root."""
        return {one.key: one for one in self.entries}


class CoverageChange(msgspec.Struct, frozen=True):
    """An entry whose state differs between two suites; None: it is not in that suite.

    The examples are of the suite in which the state is better.
    """

    kind: Kind
    name: str
    root: str
    before: State | None
    after: State | None
    examples: list[CoverageExample]

    @property
    def is_gain(self) -> bool:
        """Whether the entry is nearer to "applied" now."""
        return _rank(self.after) < _rank(self.before)


def coverage(folder: SuiteFolder, only: str | None = None) -> Coverage:
    """Return the coverage of a suite, of names or full names that a glob matches.

    Raises:
        UsageError: the folder is no suite.
    """
    with contextlib.closing(connect(folder)) as database:
        entries = {one.key: one for one in _entries(database) if _is_wanted(one, only)}
        for kind, tag in TAG_OF_KIND.items():
            for entry, (reason, times) in _of_entries(database, _TOP_REASONS, kind, entries, tag):
                entry.reasons = [*entry.reasons, CountedText(reason, times)]
            found = _of_entries(database, _EXAMPLE_RUNS, kind, entries, tag)
            for entry, (test, line, *run) in found:
                place = None if test is None else f"{test}:{line}" if line else test
                entry.examples = [*entry.examples, CoverageExample(place, _to_copy(*run))]
        for entry, (options, times) in _of_entries(database, _OPTIONS, "pass", entries):
            entry.options = [*entry.options, CountedText(options, times)]
        [(runs, tests)] = _rows(
            database, "SELECT count(*), count(DISTINCT test) FROM runs WHERE recording IS NOT NULL"
        )
        [(blind,)] = _rows(
            database,
            """SELECT count(DISTINCT run) FROM attempts ANTI JOIN registered USING (run)
            WHERE tag = 'apply-pattern'""",
        )
        sql = "SELECT count(*) FROM runs WHERE missing <> ?"
        [(missing,)] = _rows(database, sql, NO_CONTEXT)
        return Coverage(list(entries.values()), runs, tests, blind, missing)


def differences(now: Coverage, before: Coverage) -> list[CoverageChange]:
    """Return the entries whose state differs, losses first."""
    found: list[CoverageChange] = []
    for key in {**before.by_key, **now.by_key}:
        old, new = before.by_key.get(key), now.by_key.get(key)
        one = CoverageChange(*key, old and old.state, new and new.state, [])
        shown = new if one.is_gain else old
        if one.before != one.after and shown is not None:
            found.append(msgspec.structs.replace(one, examples=shown.examples))
    return sorted(found, key=lambda one: (one.is_gain, one.kind, one.name))


def _rank(state: State | None) -> int:
    return len(STATES) if state is None else STATES.index(state)


def _rows(database: Database, sql: str, *values: object) -> list[tuple[Any, ...]]:
    return database.execute(sql, list(values)).fetchall()


def _entries(database: Database) -> Iterator[CoverageEntry]:
    """Yield the entries without reasons, options and examples."""
    database.execute(_KNOWN)
    database.execute(_TRIED)
    for kind, tag in TAG_OF_KIND.items():
        found = database.execute(_ENTRIES, [tag])
        columns = [name for name, *_ in found.description]
        for row in found.fetchall():
            yield _entry(kind, dict(zip(columns, row, strict=True)))


def _of_entries(
    database: Database, sql: str, kind: Kind, entries: dict[Key, CoverageEntry], *values: object
) -> Iterator[tuple[CoverageEntry, list[Any]]]:
    """Yield the entry of each row of a query about a kind, and what follows its name and root."""
    for name, root, *rest in _rows(database, sql, *values):
        if (entry := entries.get((kind, name, root))) is not None:
            yield entry, rest


# The patterns that each run had in a set; the root is empty for any operation.
_KNOWN = """
CREATE TEMP TABLE known AS
SELECT DISTINCT run, 'apply-pattern' AS tag, name, full_name, coalesce(root, '') AS root, benefit
FROM registered JOIN patterns USING (pattern_set)
"""


def _with_root(table: str) -> str:
    """Return a query of a table of actions, with the root of each pattern.

    It is the operation if a pattern of this name has it as its root, and else empty.
    """
    return f"""
        SELECT {table}.*, coalesce(roots.root, '') AS root FROM {table} LEFT JOIN
            (SELECT DISTINCT tag, name, root FROM known) AS roots
            ON roots.tag = {table}.tag AND roots.name = {table}.name AND roots.root = {table}.op
    """


_TRIED = f"""
CREATE TEMP TABLE tried AS SELECT *, {_APPLIED} AS applies FROM ({_with_root("attempts")})
WHERE outcome <> 'skipped'
"""
# One row a name and root.
_ENTRIES = """
WITH loaded AS (
    SELECT name, root, any_value(full_name) AS full_name, count(DISTINCT run) AS runs_loaded,
        max(benefit) AS benefit
    FROM known WHERE tag = $1 GROUP BY name, root
),
tries AS (
    SELECT name, root, any_value(full_name) AS full_name,
        sum(times) FILTER (applies) AS applied,
        sum(times) FILTER (outcome = 'unchanged') AS unchanged,
        sum(times) FILTER (rolled_back) AS rolled_back, sum(times) AS tried,
        count(DISTINCT run) FILTER (applies) AS runs, count(DISTINCT run) AS runs_tried,
        count(DISTINCT test) FILTER (applies) AS tests
    FROM tried JOIN runs USING (run) WHERE tag = $1 GROUP BY name, root
)
SELECT name, root, coalesce(tries.full_name, loaded.full_name) AS full_name, benefit,
    coalesce(applied, 0)::BIGINT AS applied, coalesce(unchanged, 0)::BIGINT AS unchanged,
    coalesce(rolled_back, 0)::BIGINT AS rolled_back, coalesce(tried, 0)::BIGINT AS tried,
    coalesce(runs, 0) AS runs, coalesce(runs_tried, 0) AS runs_tried,
    greatest(coalesce(runs_loaded, 0), coalesce(runs_tried, 0)) AS runs_loaded,
    coalesce(tests, 0) AS tests
FROM loaded FULL JOIN tries USING (name, root) ORDER BY name, root
"""
_TOP_REASONS = f"""
SELECT name, root, reason, count FROM (
    SELECT name, root, reason, sum(times)::BIGINT AS count FROM ({_with_root("reasons")})
    WHERE tag = $1 GROUP BY ALL)
QUALIFY row_number() OVER (PARTITION BY name, root ORDER BY count DESC, reason) <= {_REASONS}
ORDER BY name, root, count DESC, reason
"""
_OPTIONS = """
SELECT pass, '', options, count(DISTINCT run) AS times FROM pass_options
GROUP BY ALL ORDER BY pass, times DESC, options
"""
# The shortest runs of each entry: those that applied it, or else tried it, or else had it.
_EXAMPLE_RUNS = f"""
WITH found AS (
    SELECT name, root, run, CASE WHEN applies THEN 0 ELSE 1 END AS rank FROM tried WHERE tag = $1
    UNION ALL SELECT name, root, run, 2 FROM known WHERE tag = $1
),
best AS (
    SELECT name, root, run FROM found GROUP BY name, root, run
    QUALIFY rank() OVER (PARTITION BY name, root ORDER BY min(rank)) = 1
),
one AS (
    SELECT name, root, arg_min(run, actions) AS run, min(actions) AS least
    FROM best JOIN runs USING (run) GROUP BY name, root, coalesce(test, command)
    QUALIFY row_number() OVER (PARTITION BY name, root ORDER BY min(actions), min(run))
        <= {_EXAMPLES}
)
SELECT name, root, test, run_line, cwd, command, executable FROM one JOIN runs USING (run)
ORDER BY name, root, least, run
"""


def _to_copy(cwd: str, command: str, executable: str) -> str:
    """Return a line for a shell; a tool that a driver found on its own PATH has its path."""
    tool, blank, words = command.partition(" ")
    if tool == os.path.basename(executable):
        command = shlex.quote(executable) + blank + words
    return f"cd {shlex.quote(cwd)} && {command}"


def _entry(kind: Kind, row: dict[str, Any]) -> CoverageEntry:
    """Return the entry of a row of ``_ENTRIES``."""
    operation = row["name"] if kind == "fold" else row["root"]
    state: State = "applied" if row["applied"] else "tried" if row["tried"] else "never"
    return CoverageEntry(kind=kind, state=state, dialect=operation.partition(".")[0], **row)


def _is_wanted(entry: CoverageEntry, only: str | None) -> bool:
    if entry.kind == "pass" and is_adaptor(entry.full_name):
        return False
    return only is None or glob_matches(only, entry.name) or glob_matches(only, entry.full_name)
