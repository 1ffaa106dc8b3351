"""The two ends of a bisection: the whole run is bad, and the run without the candidates is good."""

from __future__ import annotations

import hashlib
from array import array
from dataclasses import dataclass, field

from actiondbg.bisection import messages as telling
from actiondbg.bisection.candidates import Record, Row, Scheme, candidates_of
from actiondbg.bisection.oracles.oracle import Evidence
from actiondbg.bisection.schemes import Ladder
from actiondbg.bisection.search.binary import Interval
from actiondbg.bisection.trials.evaluator import Asking
from actiondbg.bisection.trials.runner import Outcome, forget
from actiondbg.bisection.trials.trials import Task
from actiondbg.bisection.verdict import Judgement

_LONGEST = 60.0  # seconds that a trial may take at least, when no limit is given
_SIFTED = 2  # starts that the oracle cannot judge, before the passes are tried one by one
_TIMES = 20.0  # or as many times what the whole run takes


@dataclass
class Searched:
    """What a search came to.

    Attributes:
        scheme: what the candidates are.
        units: the candidates, by ordinal.
        interval: what is known of their prefixes.
        evidence: what the trials of the interval's ends left, by prefix.
    """

    scheme: Scheme
    units: list[Row]
    interval: Interval
    evidence: dict[int, Evidence] = field(default_factory=dict[int, Evidence])

    @property
    def guilty(self) -> Row:
        return self.units[self.interval.bad - 1]


def find_end(
    asking: Asking, keys: bool, is_event: bool = False, ahead: bool = False
) -> tuple[Record, Evidence | None]:
    """Make the whole run, which has to be bad.

    Args:
        asking: makes trials; from here on none may take much longer than this one.
        keys: whether actions are told apart by keys.
        is_event: the oracle looks for something that happens: an end without it is not bad.
        ahead: whether to begin with the start meanwhile.

    Returns:
        What it did, and what it left.

    Raises:
        Ended: it is not bad.
    """
    asking.meter.phase("the whole run")
    began = asking.meter.seconds
    if ahead:
        nothing = asking.plan(Scheme(), limit=0)
        asking.begin(Task(plan=nothing, seconds=asking.seconds or _LONGEST))
    outcome, record = asking.record(asking.whole(), keys)
    if asking.seconds is None:
        asking.seconds = max(_LONGEST, _TIMES * (asking.meter.seconds - began))
    if outcome.judgement.verdict != "bad":
        raise telling.not_bad(outcome.judgement, is_event)
    asking.state.check("actions", _digest(record))
    return record, outcome.evidence


def find_start(asking: Asking, record: Record, whole: Evidence | None) -> Searched:
    """Find candidates that can all be skipped, and are good then.

    Args:
        asking: makes trials.
        record: of the whole run.
        whole: what that left.

    Raises:
        Ended: there are none.
    """
    kept = [row for row in record.passes if asking.choice.takes(row)]
    ladder = Ladder(record, {row.argument or "" for row in kept})
    seen: list[tuple[int, Judgement]] = []
    required: list[Row] = []
    untestable = 0
    for scheme in ladder.schemes():
        units = candidates_of(record, scheme, kept)
        if not units:
            continue
        if seen:
            asking.meter.note(f"{telling.started(*seen[-1])} Then {scheme.words}.")
        asking.meter.phase("the start")
        asking.candidates = len(units)
        outcome, failing = _judge_start(asking, scheme, units)
        if outcome.judgement.verdict == "good":
            return _begin(scheme, units, outcome.evidence, whole)
        forget(outcome.evidence)
        seen.append((len(units), outcome.judgement))
        ladder.failed(scheme, outcome.judgement.verdict, failing)
        if outcome.judgement.verdict == "bad" and not required:
            required = _running(record, scheme)
        untestable += outcome.judgement.verdict == "untestable" and failing is None
        if untestable == _SIFTED:
            untestable += 1  # once is enough
            ladder.require(*_sift(asking, record, kept, ladder))
    raise _no_start(record, seen, required, asking.choice.words)


def _sift(
    asking: Asking, record: Record, kept: list[Row], ladder: Ladder
) -> tuple[set[str], set[str]]:
    """Find the passes that have to run, and those that do nothing; see ``Ladder.require``.

    One more is left out each time, so that what can be left out can be so together.
    """
    asking.meter.phase("the passes that have to run")
    required: set[str] = set()
    left: set[str] = set()
    idle: set[str] = set()
    for argument in ladder.groups():
        scheme = ladder.leaving_out(left | {argument})
        units = candidates_of(record, scheme, kept)
        if not units:
            idle.add(argument)
            continue
        outcome = asking.judge(asking.prefix(scheme, units, 0))
        forget(outcome.evidence)
        fits = outcome.judgement.verdict != "untestable"
        (left if fits else required).add(argument)
    return required, idle


def _begin(
    scheme: Scheme, units: list[Row], start: Evidence | None, whole: Evidence | None
) -> Searched:
    result = Searched(scheme, units, Interval(0, len(units)))
    for prefix, evidence in ((0, start), (len(units), whole)):
        if evidence is not None:
            result.evidence[prefix] = evidence
    return result


def _judge_start(asking: Asking, scheme: Scheme, units: list[Row]) -> tuple[Outcome, str | None]:
    """Judge a start; return the pass in which the tool failed, too, if it did."""
    task = asking.prefix(scheme, units, 0)
    known = asking.known(task)
    if known is None and not (scheme.passes or scheme.held):
        # What was begun skips all candidates too, be it from the first action on.
        begun = asking.take(task)
        if begun is not None:
            return begun, None
    asking.drop()
    if known is not None and known.verdict != "untestable":
        return Outcome(known), None
    outcome, record = asking.record(task)
    stop = outcome.evidence.stop if outcome.evidence else None
    fails = stop is not None and stop.when == "exit" and stop.status != 0
    return outcome, record.failing() if fails else None


def _running(record: Record, scheme: Scheme) -> list[Row]:
    """Return the passes that changed the IR in the run that skips all candidates."""
    held = scheme.held - scheme.passes
    return [
        row for row in record.passes if row.argument in held and (row.changed or record.inside(row))
    ]


def _no_start(
    record: Record, seen: list[tuple[int, Judgement]], required: list[Row], narrowed: str
) -> telling.Ended:
    if not seen:
        return telling.no_candidates(narrowed)
    for count, judgement in seen:
        if judgement.verdict == "bad" and required and not narrowed:
            return telling.required_bad(required, count, judgement)
        if judgement.verdict == "bad":
            return telling.start_bad(count, judgement, narrowed)
    ordinals = [row.ordinal for row in (*record.actions, *record.passes)]
    return telling.start_untestable(*seen[0], (min(ordinals), max(ordinals)))


def _digest(record: Record) -> str:
    ordinals = array("Q", (row.ordinal for row in (*record.actions, *record.passes)))
    return f"{len(ordinals)} of digest {hashlib.sha256(ordinals.tobytes()).hexdigest()[:16]}"
