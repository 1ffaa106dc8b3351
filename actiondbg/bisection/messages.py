"""Messages of a bisection that are long, or used twice: why nothing was found, and notes."""

from __future__ import annotations

from actiondbg.bisection.broken_ir import BrokenIR
from actiondbg.bisection.candidates import RecordedAction
from actiondbg.bisection.result import Entry
from actiondbg.bisection.verdict import Found, Judgement
from actiondbg.process.stop import Stop
from actiondbg.support.counts import counted


class NothingFound(Exception):
    """Ends a bisection that found no culprit.

    Attributes:
        verdict: the verdict of the result.
        message: the reason and the way out.
        range: the ordinals of the first and the last candidate that may be the culprit, or None.
    """

    def __init__(self, verdict: Found, message: str, range: tuple[int, int] | None = None) -> None:
        super().__init__(message)
        self.verdict: Found = verdict
        self.message = message
        self.range = range


def not_bad(
    judgement: Judgement, is_event: bool = False, has_crashed: bool = False
) -> NothingFound:
    """The whole run is not bad; ``has_crashed`` is whether the tool crashed in it."""
    if is_event and judgement.verdict == "untestable":
        advice = (
            "the tool crashes before it: use --crash, which also names an action that leaves IR "
            "that is not valid."
            if has_crashed
            else "check the oracle and the command line."
        )
        return NothingFound(
            "not-bad",
            f"The whole run does not show the event ({judgement.reason}), so there is nothing to "
            f"bisect: {advice}",
        )
    if judgement.verdict == "good":
        return NothingFound(
            "not-bad",
            f"The output of the whole run is good ({judgement.reason}), so there is nothing to "
            "bisect: check the oracle and the command line.",
        )
    return NothingFound(
        "untestable",
        f"The whole run is untestable ({judgement.reason}): the tool must end with status 0, "
        "unless the oracle looks for an event, as --crash does; a test must give a verdict in "
        "time.",
    )


def too_slow(seconds: float) -> NothingFound:
    """The whole run did not end in the time limit of a trial."""
    return NothingFound(
        "untestable",
        f"The whole run did not end in {seconds:g} s: give a higher --timeout, or run the tool in "
        "the debugger and press Ctrl-C to see in which action it is.",
    )


def ended_early(judgement: Judgement) -> NothingFound:
    """The output of a tool that ended before its first action is bad."""
    return NothingFound(
        "not-good-at-start",
        f"The output is bad ({judgement.reason}), and the tool ended before its first action: no "
        "action is to blame, but the input, its parser or the command line.",
    )


def no_candidates(narrowed: str) -> NothingFound:
    """The whole run is bad, and there are no candidates."""
    which = f" with {narrowed}" if narrowed else ""
    advice = f"widen {narrowed}" if narrowed else "no action changed the IR"
    return NothingFound(
        "not-good-at-start",
        f"The output is bad, and there are no candidates{which}: {advice}.",
    )


def start_untestable(
    count: int, judgement: Judgement, range: tuple[int, int] | None
) -> NothingFound:
    """The run without candidates is untestable in all schemes."""
    return NothingFound(
        "untestable",
        f"{all_skipped(count, judgement)} Name the actions that must run with --always, or "
        "narrow the candidates with --filter, --name, --func or --tag.",
        range,
    )


def start_bad(count: int, judgement: Judgement, narrowed: str) -> NothingFound:
    """The run without candidates is bad."""
    advice = (
        f"widen {narrowed}"
        if narrowed
        else "the input may be wrong, or the oracle judges an untestable output as bad (a test "
        "reports one by exit status 125)"
    )
    return NothingFound(
        "not-good-at-start",
        f"{all_skipped(count, judgement)} The culprit is not a candidate: {advice}.",
    )


def required_bad(passes: list[RecordedAction], count: int, judgement: Judgement) -> NothingFound:
    """The run without candidates is bad, and a required pass may be the culprit.

    Args:
        passes: the required passes that changed the IR.
        count: the number of candidates.
        judgement: of the run without candidates.
    """
    names = ", ".join(dict.fromkeys(row.argument or "" for row in passes))
    return NothingFound(
        "untestable",
        f"{all_skipped(count, judgement)} The culprit is one of the passes that had to run, or "
        f"the input is wrong; without these passes no output can be judged: {names}. End the "
        "tool's pipeline before them, and let the oracle do their work in another way.",
        (passes[0].ordinal, max(row.last for row in passes)),
    )


def all_skipped(count: int, judgement: Judgement) -> str:
    """Report the verdict on the run that skips all candidates."""
    which = "the only candidate is" if count == 1 else f"all {count:,} candidates are"
    how = "is bad" if judgement.verdict == "bad" else "is untestable"
    return f"The output {how} when {which} skipped ({judgement.reason})."


def untestable_range(
    candidates: list[RecordedAction], judgement: Judgement | None, around: str | None
) -> NothingFound:
    """The range cannot be narrowed.

    Args:
        candidates: those that are left.
        judgement: of a run between the first and the last of them.
        around: the argument of the pass that the first is in, or None.
    """
    first, last = candidates[0].ordinal, candidates[-1].ordinal
    reason = f" ({judgement.reason})" if judgement else ""
    place = f" (the first one is in {around})" if around else ""
    return NothingFound(
        "untestable",
        f"The culprit is one of the {len(candidates)} candidates #{first} to #{last}{place}: the "
        f"actions between them could not be tested{reason}. Name the actions that must run "
        "with --always, or leave out later passes.",
        (first, last),
    )


def limit_reached(candidates: list[RecordedAction]) -> NothingFound:
    """The limit was reached during the search; one of the candidates is the culprit."""
    first, last = candidates[0].ordinal, candidates[-1].ordinal
    return NothingFound(
        "limit",
        f"The culprit is one of the {len(candidates):,} candidates #{first} to #{last}. A higher "
        "limit continues with --resume.",
        (first, last),
    )


def pass_as_a_whole(culprit: RecordedAction, at_start: bool, judgement: Judgement) -> str:
    """The culprit is a pass as a whole; at_start: its actions are skipped in the judged run."""
    if at_start and judgement.verdict == "bad":
        return (
            f"{culprit.argument} is bad even if its patterns and folds are skipped "
            f"({judgement.reason}): the pass itself is the culprit."
        )
    what = "are skipped" if at_start else "are its only candidates"
    return (
        f"The culprit is {culprit.argument} as a whole: if its patterns and folds {what}, the "
        f"output is {judgement.verdict} ({judgement.reason})."
    )


def crashed_in(culprit: RecordedAction, crash: Stop | None) -> str:
    """Name the action inside the culprit in which the tool crashes, if there is one."""
    if crash is None or not culprit.ordinal < crash.ordinal <= culprit.last:
        return ""
    about = f" on {crash.op}" if crash.op else ""
    return (
        f" The tool crashes in its #{crash.ordinal} {crash.tag} ({crash.name or 'unnamed'}){about}."
    )


def broken_ir(broken: BrokenIR) -> str:
    """The tool crashes in IR that another action than the culprit broke."""
    action = broken.action
    return (
        f"The tool crashes in IR that is not valid since #{action.ordinal} {action.tag} "
        f"({action.name or 'unnamed'}): {broken.why}."
    )


def confirmation(judgement: Judgement) -> str:
    """Report the verdict on the whole run without the culprit and the driver's retries of it."""
    if judgement.verdict == "good":
        how = f" ({judgement.reason})" if judgement.reason.startswith("The tool ended") else ""
        return f"The whole run without it is good{how}."
    if judgement.verdict == "bad":
        return (
            f"The whole run without it is still bad ({judgement.reason}): other actions "
            "contribute; see --mode skip."
        )
    return f"The whole run without it is untestable ({judgement.reason})."


def smallest_skips(culprit: Entry, count: int, is_minimal: bool) -> str:
    """Report the smallest set of skips that makes the output good."""
    if count == 1:
        return f"{culprit.describe()}: the output is good when it is skipped."
    candidates = counted(count, "candidate")
    return f"The output is good when {candidates} are skipped{_minimal(count, is_minimal)}"


def smallest_applied(count: int, is_minimal: bool) -> str:
    """Report the smallest set of applied candidates whose output is bad."""
    candidates = f"{counted(count, 'candidate')} {'is' if count == 1 else 'are'}"
    return f"The output is bad when only {candidates} applied{_minimal(count, is_minimal)}"


def _minimal(count: int, is_minimal: bool) -> str:
    if is_minimal:
        return ", and no single one can be left out."
    return (
        f". The limit was reached, and a smaller set than these {count:,} may do: a higher limit "
        "continues with --resume."
    )
