"""The rules of rewriting, and the findings that break them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from actiondbg.analysis.pipeline import ADAPTOR
from actiondbg.errors import ActiondbgError, UsageError
from actiondbg.lint.endless import endless_rewrites

if TYPE_CHECKING:
    from actiondbg.recording.recording import Recording

# What a rule needs: the actions of any recording, one with checks, several runs, or repeated runs.
Need = Literal["actions", "checks", "runs", "repetition"]


@dataclass(frozen=True)
class Rule:
    """A rule of rewriting."""

    name: str
    # What a finding says, one sentence without its subject: "returns failure after ...".
    meaning: str
    advice: str  # what the author of a pattern does about it, one sentence
    need: Need  # what shows that it is broken
    # SQL over the tables of a recording, which gives the columns ``subject`` (the name of a pattern
    # or pass), ``ordinal`` (of an action), and ``detail``. It has a row for each action that breaks
    # the rule: their number is the ``times`` of a finding, their durations are its ``seconds``. A
    # rule that needs several runs has the column ``refuted``, too: whether the action shows that
    # the subject does not break the rule. "" for a rule that needs repeated runs.
    query: str = ""
    is_default: bool = True  # whether it is checked unless others are named
    # Makes a further query for a recording, given with its database; None if it needs none.
    further: Callable[[Recording, Any], str | None] | None = None

    @property
    def reads_recordings(self) -> bool:
        """Whether a recording shows it, without further runs."""
        return bool(self.query) or self.further is not None

    def queries(self, recording: Recording, database: Any) -> Iterator[str]:
        """Yield the queries that show what breaks the rule in a recording."""
        if self.query:
            yield self.query
        if self.further is not None and (query := self.further(recording, database)) is not None:
            yield query


def _checked(name: str) -> str:
    return f"""
        SELECT actions.name AS subject, ordinal, detail
        FROM findings JOIN actions USING (ordinal) WHERE rule = '{name}'
    """


# The default of MLIR for the most iterations of a greedy rewrite.
_MOST_ITERATIONS = 10

_NO_CONVERGENCE = f"""
    WITH numbered AS (
        SELECT *, CAST(regexp_extract(name, '[0-9]+') AS INTEGER) AS number
        FROM actions WHERE tag = 'GreedyPatternRewriteIteration'
    ), followed AS (
        SELECT *, lead(number) OVER (PARTITION BY parent, thread ORDER BY ordinal) AS next
        FROM numbered
    ), last AS (
        SELECT ordinal, number FROM followed
        WHERE (next IS NULL OR next <= number) AND outcome <> 'unfinished'
          AND number >= {_MOST_ITERATIONS}
    )
    SELECT applied.name AS subject, applied.ordinal, 'in iteration ' || last.number AS detail
    FROM last JOIN actions AS applied ON applied.parent = last.ordinal
    WHERE applied.outcome IN ('succeeded', 'unchanged') AND applied.tag = 'apply-pattern'
"""

# Passes that only run others have the outcome of these, and no cost of their own.
_DEAD_PASS = f"""
    SELECT name AS subject, ordinal, '' AS detail, outcome <> 'unchanged' AS refuted
    FROM actions AS pass
    WHERE tag = 'pass-execution' AND NOT ends_with(name, '{ADAPTOR}')
      AND NOT EXISTS (FROM actions WHERE parent = pass.ordinal AND tag = 'pass-execution')
"""

RULES = (
    Rule(
        "changed-but-failed",
        "changes IR and returns failure",
        "Decide whether the pattern matches before it changes anything: its driver takes the IR "
        "for unchanged.",
        "checks",
        _checked("changed-but-failed"),
    ),
    Rule(
        "success-without-change",
        "returns success without a change",
        "Return failure if there is nothing to do: the driver tries all patterns again after a "
        "success, and may not converge.",
        "checks",
        _checked("success-without-change"),
    ),
    Rule(
        "not-notified",
        "changes IR without its rewriter",
        "Use the rewriter's modifyOpInPlace, replaceOp, eraseOp, moveOpBefore and create: the "
        "driver does not revisit what it is not told of, and may use what is erased.",
        "checks",
        _checked("not-notified"),
    ),
    Rule(
        "invalid-ir",
        "leaves IR that is not valid",
        "Leave valid IR after each pattern: others, and folds, rely on what verifiers promise.",
        "checks",
        _checked("invalid-ir"),
    ),
    Rule(
        "lost-location",
        "gives a new operation no location",
        "Give it the location of the operation that it replaces, or a fused one: diagnostics and "
        "debug information need it.",
        "checks",
        _checked("lost-location"),
    ),
    Rule(
        "no-convergence",
        "still applies when the greedy driver gives up, or the tool is ended",
        "Find the pattern that undoes it, or that returns success without progress: 'info cycles' "
        "names patterns that make each other's input.",
        "actions",
        _NO_CONVERGENCE,
        further=endless_rewrites,
    ),
    Rule(
        "dead-pass",
        "changes nothing in any run",
        "Leave the pass out of the pipeline, or add a test in which it does something.",
        "runs",
        _DEAD_PASS,
        is_default=False,
    ),
    Rule(
        "unstable-output",
        "acts otherwise when the same command runs again with other addresses",
        "Iterate over vectors, or over maps that keep the order of insertion, instead of sets and "
        "maps of pointers; and drop pointers to what is freed, whose address may become another's.",
        "repetition",
    ),
    Rule(
        "order-dependent",
        "acts otherwise when patterns of the same benefit are tried in the opposite order",
        "Give the pattern that has to be tried first a higher benefit.",
        "repetition",
        is_default=False,
    ),
    Rule(
        "use-after-erase",
        "reads memory that is freed",
        "Do not touch an operation that was erased or replaced: read what is needed before.",
        "repetition",
    ),
)
DEFAULT_RULES = tuple(each for each in RULES if each.is_default)
BY_NAME = {each.name: each for each in RULES}


def rule_named(name: str) -> Rule:
    """Return a rule; raises UsageError if there is none of this name."""
    if name not in BY_NAME:
        raise UsageError(f"{name!r} is not a rule: use {', '.join(BY_NAME)}.")
    return BY_NAME[name]


@dataclass(frozen=True)
class FindingPlace:
    """Where a finding shows."""

    command: tuple[str, ...]  # of the run
    cwd: str  # its working directory
    actions: int  # how many it has: the smallest run is shown
    recording: str | None = None  # the path of the recording; None if it is gone
    # The test that it belongs to, with the line of its RUN line; None if that is not known.
    test: str | None = None
    ordinal: int = 0  # of the action; 0 for none
    file: str | None = None  # of the operation of the action, or None
    line: int | None = None  # in the file, from 1; None without a file
    function: str | None = None  # around the operation, or None
    op: str | None = None  # the name of the operation, or None


@dataclass(frozen=True)
class Finding:
    """A pattern or pass that breaks a rule."""

    rule: str  # the name of the rule
    # The name of the pattern or pass, without anonymous namespaces: the same in all compilers.
    subject: str
    detail: str  # of the place, one phrase such as "modified arith.addi", or ""
    place: FindingPlace  # in the smallest run that shows it
    times: int = 1  # the actions that break the rule, in all runs
    runs: int = 1  # that show it
    seconds: float = 0.0  # of these actions, without those nested in a pattern

    @property
    def key(self) -> tuple[str, str]:
        """What tells findings apart: the rule and the subject."""
        return self.rule, self.subject

    @property
    def declared(self) -> Rule:
        """The rule."""
        return BY_NAME[self.rule]

    def joined(self, other: Finding) -> Finding:
        """Return both as one, at the place of the smaller run."""
        first = self if self.place.actions <= other.place.actions else other
        return replace(
            first,
            times=self.times + other.times,
            runs=self.runs + other.runs,
            seconds=self.seconds + other.seconds,
        )


class Findings:
    """The findings of several runs, each once."""

    def __init__(self) -> None:
        self._by_key: dict[tuple[str, str], Finding] = {}

    def add(self, findings: Iterable[Finding]) -> None:
        """Add the findings of a run."""
        for each in findings:
            known = self._by_key.get(each.key)
            self._by_key[each.key] = each if known is None else known.joined(each)

    def __iter__(self) -> Iterator[Finding]:
        """Yield them in the order of the rules, the most frequent first."""
        order = list(BY_NAME)
        return iter(
            sorted(
                self._by_key.values(),
                key=lambda each: (order.index(each.rule), -each.times, each.subject),
            )
        )


class Known(msgspec.Struct, frozen=True, order=True):
    """A finding in a baseline."""

    rule: str
    subject: str


class Baseline(msgspec.Struct, tag_field="format", tag="actiondbg lint baseline"):
    """The findings that are known, and not reported."""

    version: Literal[1]
    findings: list[Known]


def baseline_text(findings: Iterable[Finding]) -> bytes:
    """Return the text of a baseline: JSON, in the same order each time."""
    known = sorted(Known(*key) for key in {each.key for each in findings})
    return msgspec.json.format(msgspec.json.encode(Baseline(1, known)), indent=1) + b"\n"


def read_baseline(path: Path) -> set[tuple[str, str]]:
    """Read the keys of known findings.

    Raises:
        ActiondbgError: the file cannot be read, or is no baseline.
    """
    try:
        read = msgspec.json.decode(path.read_bytes(), type=Baseline)
    except OSError as error:
        raise ActiondbgError(f"{str(path)!r} cannot be read: {error.strerror}.") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ActiondbgError(
            f"{str(path)!r} is not a baseline of 'actiondbg lint': write one by --write-baseline."
        ) from error
    return {(each.rule, each.subject) for each in read.findings}


def finding_object(finding: Finding) -> dict[str, object]:
    """Return a finding as an object for JSON."""
    fields = asdict(finding)
    return {**fields, "meaning": finding.declared.meaning, "advice": finding.declared.advice}
