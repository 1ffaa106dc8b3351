"""The result of a bisection."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from actiondbg import protocol
from actiondbg.bisection.verdict import Found, Mode, Verdict
from actiondbg.ir.diff import Diff
from actiondbg.protocol.tags import PASS_TAG
from actiondbg.support.source_file import known_place


class Entry(protocol.ActionRef, kw_only=True, frozen=True):  # pyright: ignore[reportGeneralTypeIssues]
    """A candidate: one action, or a pass as a whole.

    Its ordinal is that of the run that skips nothing; its name is of the pattern or the pass, or
    for a fold of the operation.

    Attributes:
        nth: the number, from 1, of its operation among the distinct ones on which an action of
            this tag, name, location and function was tried; 0 if it is not known (mode first).
        last: the ordinal of the last action in a pass; ``ordinal`` for a single action.
    """

    nth: int = 0
    last: int = 0

    @property
    def is_pass(self) -> bool:
        """Whether the candidate is a pass as a whole."""
        return self.tag == PASS_TAG

    def describe(self) -> str:
        """Return the candidate in one line."""
        place = f" at {known_place(self.location)}" if known_place(self.location) else ""
        about = f" on {self.op}" if self.op and self.op != self.name else ""
        return f"#{self.ordinal} {self.tag} ({self.name or 'unnamed'}){about}{place}"


def listed(entries: Sequence[Entry], most: int) -> list[str]:
    """Return a line for each entry of a set, but for ``most`` at most, and what else is there.

    A pass is told apart that is in a set because others of the set run in it.
    """
    lines: list[str] = []
    for entry in entries[:most]:
        inner = [one for one in entries if entry.ordinal < one.ordinal <= entry.last]
        around = f", around #{inner[0].ordinal}" if inner else ""
        lines.append(f"{entry.describe()}{around}")
    if len(entries) > most:
        lines.append(f"... and {len(entries) - most:,} more")
    return lines


class Culprit(msgspec.Struct, kw_only=True, frozen=True):
    """The culprit, in the run that skips every later candidate.

    In the modes minimize and skip it is the last applied or the first skipped action of the set.

    Attributes:
        entry: the action.
        nth: its number, from 1, among the actions of its tag, as debug counters count.
        stack: the action and those around it, innermost first.
        pass_name: the pass that it is, or is in; None for none.
        pass_pipeline: that pass with its options, ``builtin.module(func.func(canonicalize{...}))``.
        pass_ordinal: the ordinal of that pass.
        outcome: its outcome.
        diff: the IR before and after it; None if it could not be printed.
    """

    entry: Entry
    nth: int = 0
    stack: list[protocol.Frame] = []
    pass_name: str | None = None
    pass_pipeline: str | None = None
    pass_ordinal: int | None = None
    outcome: protocol.Outcome | None = None
    diff: Diff | None = None

    @property
    def ordinal(self) -> int:
        return self.entry.ordinal

    @property
    def tag(self) -> str:
        return self.entry.tag

    @property
    def name(self) -> str:
        return self.entry.name

    @property
    def op(self) -> str | None:
        return self.entry.op

    @property
    def location(self) -> str | None:
        return self.entry.location

    @property
    def function(self) -> str | None:
        return self.entry.function


class Result(msgspec.Struct, kw_only=True, frozen=True):
    """The result of a bisection.

    Attributes:
        verdict: "found", or the reason why nothing was found: "untestable", "not-bad",
            "not-good-at-start", "flaky", "limit".
        mode: the mode of the search.
        message: the result and the way out, in sentences.
        culprit: the culprit; only with "found".
        trials: the number of trials, without those of a resumed state file.
        oracle_runs: how often an output was judged here: less than ``trials``, if several outputs
            had the same content, or the oracle judges the end of the tool, or trials were judged by
            workers of a cluster.
        candidates: the number of candidates in the search.
        applied: of mode minimize: the smallest set of applied candidates whose output is bad.
        skips: of mode skip: the smallest set of skips whose output is good; of minimize: all
            candidates except ``applied``.
        is_minimal: whether no action of the set of minimize or skip can be left out; false if the
            limit ended the search for a smaller set.
        range: of "untestable" and "limit": the ordinals of the first and the last candidate that
            may be the culprit.
        confirmed: the verdict on the run that skips only the culprit; None without such a run.
        notes: one sentence each.
        held: arguments of the passes that had to run; nothing in them was a candidate.
        units: arguments of the passes that were candidates as a whole.
        always: globs of names that were never candidates.
        reproducer: the folder of the report and the reproducer, or None.
        reproducer_verified: whether the reproducer showed good and bad; None if there is none.
        reproducer_needs_actiondbg: whether its script needs actiondbg, to run the tool or to judge;
            None if there is none.
        layout: 0 if the search was made with fixed addresses, else the number of the random
            address layout in which the whole run was bad.
        plain_bad: how many of ``plain_runs`` had a bad output.
        plain_runs: how often the plain tool was run with random addresses.
        plain_outputs: how many different outputs these runs had.
        crash: where the tool crashed that skips nothing, and why, as a sentence; None if the
            oracle does not look for a crash.
        broken: what the verifier says of the IR that the culprit leaves, in which the tool crashes
            later; None if it does not leave such IR.
        seconds: the wall time.
    """

    verdict: Found
    mode: Mode = "first"
    message: str = ""
    culprit: Culprit | None = None
    trials: int = 0
    oracle_runs: int = 0
    candidates: int = 0
    applied: list[Entry] = []
    skips: list[Entry] = []
    is_minimal: bool = True
    range: tuple[int, int] | None = None
    confirmed: Verdict | None = None
    notes: list[str] = []
    held: list[str] = []
    units: list[str] = []
    always: list[str] = []
    reproducer: str | None = None
    reproducer_verified: bool | None = None
    reproducer_needs_actiondbg: bool | None = None
    layout: int = 0
    plain_bad: int = 0
    plain_runs: int = 0
    plain_outputs: int = 0
    crash: str | None = None
    broken: str | None = None
    seconds: float = 0.0

    @property
    def found(self) -> bool:
        """Whether a culprit was found."""
        return self.verdict == "found"

    def as_json(self) -> dict[str, object]:
        """Return the result with stable keys; the diff is in the folder of the reproducer."""
        culprit = self.culprit
        entry = culprit.entry if culprit else None
        return {
            "verdict": self.verdict,
            "mode": self.mode,
            "ordinal": entry.ordinal if entry else None,
            "tag": entry.tag if entry else None,
            "name": entry.name if entry else None,
            "pass": culprit.pass_name if culprit else None,
            "op": entry.op if entry else None,
            "location": entry.location if entry else None,
            "function": entry.function if entry else None,
            "nth": culprit.nth if culprit else None,
            "pipeline": culprit.pass_pipeline if culprit else None,
            "confirmed": self.confirmed,
            "range": self.range,
            "trials": self.trials,
            "oracle_runs": self.oracle_runs,
            "candidates": self.candidates,
            "applied": msgspec.to_builtins(self.applied),
            "skips": msgspec.to_builtins(self.skips),
            "minimal": self.is_minimal,
            "reproducer": self.reproducer,
            "reproducer_verified": self.reproducer_verified,
            "reproducer_needs_actiondbg": self.reproducer_needs_actiondbg,
            "layout": self.layout,
            "plain_bad": self.plain_bad,
            "plain_runs": self.plain_runs,
            "plain_outputs": self.plain_outputs,
            "crash": self.crash,
            "broken": self.broken,
            "message": self.message,
            "notes": self.notes,
            "seconds": round(self.seconds, 3),
        }
