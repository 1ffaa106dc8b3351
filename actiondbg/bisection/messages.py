"""The sentences of a bisection that found nothing, or had to look closer."""

from __future__ import annotations

from actiondbg.bisection.candidates import Row
from actiondbg.bisection.verdict import Found, Judgement, Verdict


class Ended(Exception):
    """The bisection is over, without an action to blame.

    Attributes:
        verdict: why.
        message: what was seen, and what to do.
        range: the ordinals of the first and the last candidate that may be to blame, or None.
    """

    def __init__(self, verdict: Found, message: str, range: tuple[int, int] | None = None) -> None:
        super().__init__(message)
        self.verdict: Found = verdict
        self.message = message
        self.range = range


def not_bad(judgement: Judgement, is_event: bool = False) -> Ended:
    """Say that the end is not bad; see ``find_end``."""
    if is_event and judgement.verdict == "untestable":
        return Ended(
            "not-bad",
            f"What is looked for did not happen ({judgement.reason}), so there is nothing to find: "
            "check the oracle and the command line.",
        )
    if judgement.verdict == "good":
        return Ended(
            "not-bad",
            f"The output of the whole run is good ({judgement.reason}), so there is nothing to "
            "find: check the oracle and the command line.",
        )
    return Ended(
        "untestable",
        f"The output of the whole run cannot be judged ({judgement.reason}): the tool has to end "
        "well, unless its end is looked for with --crash, --verify or --diagnostic.",
    )


def no_candidates(narrowed: str) -> Ended:
    """Say that the end is bad, and nothing can be skipped."""
    which = f" that {narrowed} leaves" if narrowed else ""
    advice = f"widen {narrowed}" if narrowed else "no action changed the IR"
    return Ended(
        "not-good-at-start",
        f"The output is bad, and there is no candidate{which} that could be skipped: {advice}.",
    )


def start_untestable(count: int, judgement: Judgement, range: tuple[int, int] | None) -> Ended:
    """Say that no start could be judged."""
    return Ended(
        "untestable",
        f"{started(count, judgement)} Name what has to run with --always, or narrow the "
        "candidates with --name, --func or --tag.",
        range,
    )


def start_bad(count: int, judgement: Judgement, narrowed: str) -> Ended:
    """Say that the start is bad."""
    advice = (
        f"widen {narrowed}"
        if narrowed
        else "what is wrong is in the input, or the oracle calls bad what it cannot judge (a test "
        "says so by the exit status 125)"
    )
    return Ended(
        "not-good-at-start",
        f"{started(count, judgement)} {'It is not' if count == 1 else 'None of them is'} to blame: "
        f"{advice}.",
    )


def required_bad(rows: list[Row], count: int, judgement: Judgement) -> Ended:
    """Say that the start is bad, and that passes had to run in it.

    Args:
        rows: these passes.
        count: of the candidates that were skipped.
        judgement: of that run.
    """
    names = ", ".join(dict.fromkeys(row.argument or "" for row in rows))
    return Ended(
        "untestable",
        f"{started(count, judgement)} One of the passes that had to run then is to blame, if it is "
        f"not the input, and which of them cannot be told, as without them there is no output to "
        f"judge: {names}. End the tool's pipeline before them, and have the oracle do what is left "
        "in another way.",
        (rows[0].ordinal, max(row.last for row in rows)),
    )


def started(count: int, judgement: Judgement) -> str:
    """Say how the run was judged that skips all candidates."""
    which = "the only candidate is" if count == 1 else f"all {count:,} candidates are"
    how = "is bad" if judgement.verdict == "bad" else "cannot be judged"
    return f"The output {how} when {which} skipped ({judgement.reason})."


def lenient(message: str, oracle: str) -> str:
    """Say that the search begins once more, and that an error counts as good in it."""
    return (
        f"{message} So it is searched once more, and a run that ends with an error, but without "
        f"what {oracle} looks for, counts as good."
    )


def stuck(rows: list[Row], judgement: Judgement | None, around: str | None) -> Ended:
    """Say that the range cannot be narrowed.

    Args:
        rows: the candidates that may be to blame.
        judgement: of a run between them.
        around: the argument of the pass that the first is in.
    """
    first, last = rows[0].ordinal, rows[-1].ordinal
    reason = f" ({judgement.reason})" if judgement else ""
    place = f", of which the first is in {around}" if around else ""
    return Ended(
        "untestable",
        f"One of the {len(rows)} candidates #{first} to #{last}{place}, is to blame, and which of "
        f"them cannot be told: the runs up to those between cannot be judged{reason}. Name what "
        "has to run with --always, or leave passes out that come later.",
        (first, last),
    )


def not_opened(row: Row, at_start: bool, judgement: Judgement) -> str:
    """Say why the guilty action is not looked for in a guilty pass."""
    if at_start and judgement.verdict == "bad":
        return (
            f"{row.argument} is bad even if its patterns and folds are skipped "
            f"({judgement.reason}): it does it by itself."
        )
    what = "are skipped" if at_start else "are its only candidates"
    return (
        f"{row.argument} is to blame as a whole: when its patterns and folds {what}, the output is "
        f"{judgement.verdict} ({judgement.reason})."
    )


def surprise(ordinal: int, verdict: Verdict) -> str:
    """Say that a verdict does not fit."""
    return f"The verdicts are not monotone: the run up to #{ordinal} is {verdict} as well."


def confirmed(judgement: Judgement) -> str:
    """Say how the run was judged that skips only the guilty action."""
    if judgement.verdict == "good":
        return "The run that skips only it is good."
    if judgement.verdict == "bad":
        return (
            f"The run that skips only it is still bad ({judgement.reason}): others do harm as "
            "well; see --mode skip."
        )
    return f"The run that skips only it cannot be judged ({judgement.reason})."
