"""Find the culprit, which turns the output from good to bad, or the smallest set of actions."""

from __future__ import annotations

import contextlib
import itertools
import math
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeVar

from actiondbg import protocol
from actiondbg.bisection import messages
from actiondbg.bisection.bounds import Bounds
from actiondbg.bisection.candidates import Record, RecordedAction, candidates_of
from actiondbg.bisection.evaluator import TrialEvaluator
from actiondbg.bisection.messages import NothingFound
from actiondbg.bisection.minimizer import Interval, Minimizer, SearchEnd, search
from actiondbg.bisection.progress import LimitReached
from actiondbg.bisection.result import Culprit, Entry
from actiondbg.bisection.trial import Pool, Trial, TrialResult
from actiondbg.bisection.verdict import Judgement, Verdict
from actiondbg.errors import ActiondbgError
from actiondbg.process.action_diff import compare_action
from actiondbg.process.forked_tool import ForkedTool
from actiondbg.process.stop import Stop
from actiondbg.session.past.pass_reproducer import pass_around

T = TypeVar("T")

_MOST_NAMED = 3  # actions of a culprit pass that a note names


@dataclass(eq=False)
class CulpritSearch:
    """Searches for the culprit.

    Args:
        confirms: whether ``confirm`` will be called; its trial can then run during the search.

    Attributes:
        is_contradicted: whether the verdicts are not monotone.
    """

    evaluator: TrialEvaluator
    pool: Pool
    record: Record
    jobs: int
    confirms: bool
    is_contradicted: bool = field(default=False, init=False)

    def find(self, space: Bounds) -> Bounds:
        """Narrow to one candidate; if it is a pass, to an action in it.

        Raises:
            NothingFound: the candidates that are left are untestable, or the limit was reached.
        """
        try:
            self._search(space)
        except LimitReached:
            raise messages.limit_reached(space.left) from None
        try:
            return self._search_in_pass(space)
        except LimitReached:
            self.evaluator.progress.add_note(
                f"The limit was reached before the search in {space.culprit.argument} ended."
            )
            return space

    def confirm(self, space: Bounds, index: int) -> Judgement:
        """Judge the run that skips only one candidate, the culprit."""
        self.evaluator.progress.start_phase("the confirmation", 1)
        result = self.evaluator.evaluate(self._confirmation(space, index + 1))
        result.remove_files()
        return result.judgement

    def judge_again(self, space: Bounds) -> None:
        """Judge the outputs of the longest good and the shortest bad prefix once more.

        Raises:
            FlakyOracle: a verdict differs.
        """
        self.evaluator.progress.start_phase("the final check", 0)
        for length in (space.interval.good, space.interval.bad):
            evidence = space.evidence.get(length)
            judgement = self._judgement(space, length)
            if evidence is not None and judgement is not None:
                self.evaluator.judge_again(evidence, judgement)

    def _confirmation(self, space: Bounds, number: int) -> Trial:
        """Return the trial that skips only one candidate, numbered from 1."""
        ordinal = space.candidates[number - 1].ordinal
        plan = self.evaluator.plan(space.scheme, only=ordinal)
        return self.evaluator.trial(plan, ordinal)

    def _judgement(self, space: Bounds, length: int) -> Judgement | None:
        prefix = self.evaluator.prefix(space.scheme, space.candidates, length)
        return self.evaluator.cached(prefix)

    def _search(self, space: Bounds) -> None:
        evaluator, candidates, interval = self.evaluator, space.candidates, space.interval
        steps = math.ceil(math.log2(interval.bad - interval.good)) + 1
        # The search for a smallest set follows unless there is a confirmation.
        evaluator.progress.start_phase("the search", steps, at_least=not self.confirms)

        def on_result(length: int, result: TrialResult) -> None:
            if result.evidence is not None and length >= 0:
                space.evidence[length] = result.evidence

        def trial(length: int) -> Trial:
            if length < 0:
                return self._confirmation(space, -length)
            return evaluator.prefix(space.scheme, candidates, length)

        def on_narrowed(interval: Interval) -> None:
            _remove_outer_files(space)
            first, last = candidates[interval.good].ordinal, candidates[interval.bad - 1].ordinal
            evaluator.progress.set_range(first, last, interval.bad - interval.good, 1)

        judge = PrefixJudge(self.pool, trial, evaluator, on_result)
        found = search(interval, judge, self.jobs, on_narrowed=on_narrowed, confirms=self.confirms)
        self._note_surprises(found, space)
        if not interval.is_narrow:
            raise self._untestable(space)

    def _note_surprises(self, found: SearchEnd, space: Bounds) -> None:
        for length in found.surprises:
            self.is_contradicted = True
            ordinal = space.candidates[length - 1].ordinal
            self.evaluator.progress.add_note(
                "The verdicts are not monotone: the run up to "
                f"#{ordinal} is {found.verdicts[length]} as well."
            )

    def _untestable(self, space: Bounds) -> NothingFound:
        interval = space.interval
        left = space.left
        judgement = self._judgement(space, interval.untestable[0])
        ordinal = left[0].ordinal
        around = [one for one in self.record.passes if one.ordinal <= ordinal <= one.last]
        return messages.untestable_range(left, judgement, around[-1].argument if around else None)

    def _search_in_pass(self, space: Bounds) -> Bounds:
        """Search for an action in a culprit pass that was a candidate as a whole."""
        evaluator, culprit = self.evaluator, space.culprit
        if culprit.argument is None or culprit.argument not in space.scheme.held:
            return space
        scheme = space.scheme.opening(culprit.argument)
        candidates = candidates_of(self.record, scheme)
        good = sum(one.ordinal <= culprit.ordinal for one in candidates)
        bad = sum(one.ordinal <= culprit.last for one in candidates)
        if good == bad:
            return space
        evaluator.progress.start_phase(f"the actions in {culprit.argument}")
        opened = Bounds(scheme, candidates, Interval(good, bad))
        for length, expected in ((good, "good"), (bad, "bad")):
            evaluator.check_limit()
            result = evaluator.evaluate(evaluator.prefix(scheme, candidates, length))
            if result.evidence is not None:
                opened.evidence[length] = result.evidence
            if result.judgement.verdict != expected:
                note = messages.pass_as_a_whole(culprit, length == good, result.judgement)
                evaluator.progress.add_note(note + self._actions_in(culprit))
                return space
        evaluator.candidates += bad - good
        try:
            self._search(opened)
        except NothingFound as ended:
            note = f"The search in {culprit.argument} found no single action. {ended.message}"
            evaluator.progress.add_note(note)
            return space
        return opened

    def _actions_in(self, culprit: RecordedAction) -> str:
        """Name the actions in a culprit pass, if they are few."""
        stop = self.evaluator.whole_stop
        crashed = stop.ordinal if stop is not None and stop.reason == "crashed" else 0
        actions = [one for one in self.record.actions_in(culprit) if one.ordinal != crashed]
        if not 0 < len(actions) <= _MOST_NAMED:
            return ""
        stops: list[Stop] = []
        for each in actions:
            with self.evaluator.tool.replay(each.ordinal) as fork:
                stops += [fork.stop] if fork.stop else []
        named = (f"#{stop.ordinal} {stop.tag} ({stop.name or 'unnamed'})" for stop in stops)
        return f" In it, {' and '.join(named)} changed the IR."


@dataclass(eq=False)
class PrefixJudge:
    """Judges prefixes for ``search``, by trials of a pool.

    Args:
        trial: returns the trial of a prefix of a length.
        on_result: called with the length and the result of each trial that was not cached.
    """

    pool: Pool
    trial: Callable[[int], Trial]
    evaluator: TrialEvaluator
    on_result: Callable[[int, TrialResult], None]
    _ready: list[tuple[int, Verdict]] = field(default_factory=list[tuple[int, Verdict]], init=False)

    def submit(self, length: int) -> None:
        trial = self.trial(length)
        judgement = self.evaluator.cached(trial)
        if judgement is not None:
            self._ready.append((length, judgement.verdict))
            return
        self.evaluator.check_limit()
        self.pool.submit(length, trial)

    def wait(self) -> tuple[int, Verdict]:
        if self._ready:
            return self._ready.pop(0)
        length, result = self.pool.wait()
        self.evaluator.keep(self.trial(length), result.judgement)
        self.on_result(length, result)
        return length, result.judgement.verdict

    def cancel(self, length: int) -> None:
        for index, (ready, _) in enumerate(self._ready):
            if ready == length:
                del self._ready[index]
                return
        with contextlib.suppress(KeyError):
            self.pool.cancel(length)


def _remove_outer_files(space: Bounds) -> None:
    """Remove the files of trials outside of the interval: they will not be judged again."""
    interval = space.interval
    for length in list(space.evidence):
        if not interval.good <= length <= interval.bad:
            space.evidence.pop(length).remove()


def describe_culprit(
    fork_before: Callable[[], ForkedTool], action: RecordedAction, directory: Path
) -> Culprit:
    """Describe a recorded action.

    Args:
        fork_before: forks the tool before the action, or earlier.
    """
    numbers = itertools.count()
    with fork_before() as fork:
        stop = fork.advance(action.ordinal)
        stack = fork.request(protocol.GetFrames()).frames
        pipeline = _answer(lambda: fork.request(protocol.GetPipeline()).text)
        # The tool may not reach the end of the action.
        outcome = _answer(lambda: fork.advance(action.ordinal, "after").outcome)
    around = _answer(lambda: pass_around(stack))
    diff = _answer(
        lambda: compare_action(
            fork_before, stop.ordinal, lambda: directory / f"print-{next(numbers)}"
        )
    )
    return Culprit(
        entry=_entry(action, stop),
        nth=stop.nth,
        stack=stack,
        pass_name=around.name if around else None,
        pass_ordinal=around.ordinal if around else None,
        pass_pipeline=pipeline if around else None,
        outcome=outcome,
        diff=diff,
    )


def _answer(ask: Callable[[], T]) -> T | None:
    """Return an answer of the tool; None if it is an error."""
    with contextlib.suppress(ActiondbgError):
        return ask()
    return None


def _entry(action: RecordedAction, stop: Stop) -> Entry:
    return Entry(
        ordinal=action.ordinal,
        tag=stop.tag,
        name=action.argument or stop.name,
        nth=action.nth or 0,
        location=stop.location,
        function=stop.function,
        op=stop.op,
        last=action.last or action.ordinal,
    )


# --- the modes minimize and skip: the smallest bad set, or good set of skips ---


_MOST_KEYS = 60_000  # so that a plan fits into a message of the protocol, at most 16 MiB


@dataclass(eq=False)
class SetJudge:
    """Judges sets of candidates for a ``Minimizer``; plans name the candidates by their keys.

    Args:
        skips: whether a set is skipped; else only the set is applied.
    """

    evaluator: TrialEvaluator
    pool: Pool
    jobs: int
    space: Bounds
    skips: bool
    _next: deque[tuple[int, ...]] = field(default_factory=deque[tuple[int, ...]], init=False)
    _numbers: dict[tuple[int, ...], int] = field(
        default_factory=dict[tuple[int, ...], int], init=False
    )
    _running: dict[int, tuple[int, ...]] = field(
        default_factory=dict[int, tuple[int, ...]], init=False
    )

    def set_next(self, sets: list[list[int]]) -> None:
        """Set the sets that may be judged next; the trials of other sets are cancelled."""
        wanted = [tuple(one) for one in sets]
        for number, items in list(self._running.items()):
            if items not in wanted:
                self.pool.cancel(number)
                del self._running[number]
        running = set(self._running.values())
        self._next = deque(one for one in wanted if one not in running)

    def judge(self, items: Sequence[int]) -> Verdict:
        """Judge a set; with several jobs, the next sets run in parallel."""
        wanted = tuple(items)
        while True:
            cached = self.evaluator.cached(self.trial(wanted))
            if cached is not None:
                return cached.verdict
            self.evaluator.check_limit()
            self._fill_pool(wanted)
            number, result = self.pool.wait()
            self._add(self._running.pop(number), result)

    def trial(self, items: Sequence[int]) -> Trial:
        """Return the trial of a set."""
        evaluator, candidates = self.evaluator, self.space.candidates
        if len(items) > _MOST_KEYS:
            raise NothingFound(
                "untestable",
                f"A set of {len(items):,} candidates is too large for one trial: narrow "
                "them with --name, --func or --tag.",
            )
        keys = [candidates[item].key for item in items]
        if self.skips:
            first_skip = candidates[items[0]].ordinal if items else 0
            return evaluator.trial(evaluator.plan(self.space.scheme, skip=keys), first_skip)
        applied = set(items)
        skipped = (index for index in range(len(candidates)) if index not in applied)
        first = next(skipped, None)
        first_skip = 0 if first is None else candidates[first].ordinal
        # A plan that applies some actions skips only the operations of a schedule that it names.
        left_out = (one for index, one in enumerate(candidates) if index not in applied)
        steps = [one.key for one in left_out if one.is_step]
        plan = evaluator.plan(self.space.scheme, apply=keys, skip=steps or None)
        return evaluator.trial(plan, first_skip)

    def close(self) -> None:
        """Cancel the running trials."""
        self.set_next([])

    def _fill_pool(self, wanted: tuple[int, ...]) -> None:
        if wanted not in self._running.values():
            self._submit(wanted)
        while len(self._running) < self.jobs and self._next:
            items = self._next.popleft()
            is_cached = self.evaluator.cached(self.trial(items)) is not None
            if not is_cached and items not in self._running.values():
                self._submit(items)

    def _submit(self, items: tuple[int, ...]) -> None:
        number = self._numbers.setdefault(items, len(self._numbers))
        self._running[number] = items
        self.pool.submit(number, self.trial(items))

    def _add(self, items: tuple[int, ...], result: TrialResult) -> None:
        self.evaluator.keep(self.trial(items), result.judgement)
        result.remove_files()


def smallest_set(
    evaluator: TrialEvaluator,
    pool: Pool,
    jobs: int,
    space: Bounds,
    mode: Literal["minimize", "skip"],
) -> tuple[list[int], bool]:
    """Find the smallest set.

    Args:
        space: narrowed to the culprit.
        mode: "minimize": the smallest set of applied candidates whose output is bad; "skip": the
            smallest set of skipped candidates whose output is good.

    Returns:
        Indices of candidates, and whether no single one can be left out; else the limit ended the
        search.

    Raises:
        NothingFound: the set of all candidates does not have the verdict.
        LimitReached: the limit was reached before a set had the verdict.
    """
    candidates, interval = space.candidates, space.interval
    judge = SetJudge(evaluator, pool, jobs, space, skips=mode == "skip")
    verdict: Literal["good", "bad"] = "good" if mode == "skip" else "bad"
    culprit = interval.bad - 1
    starts = [range(interval.bad), range(len(candidates))]
    if mode == "skip":
        starts = [
            range(culprit, interval.bad),
            range(culprit, len(candidates)),
            range(len(candidates)),
        ]

    def on_reduced(items: list[int], to_go: int) -> None:
        best[:] = items
        first, last = candidates[items[0]].ordinal, candidates[items[-1]].ordinal
        evaluator.progress.set_best(first, last, len(items), to_go)

    def minimized(start: Sequence[int]) -> tuple[list[int], bool]:
        # A single skip cannot be left out: the run that skips nothing is bad.
        if mode == "skip" and len(start) == 1:
            return list(start), True
        on_reduced(list(start), 0)
        try:
            return minimizer.minimize(start), True
        except LimitReached:
            return list(best), False

    best: list[int] = []
    minimizer = Minimizer(judge.judge, verdict, on_reduced=on_reduced, on_next=judge.set_next)
    evaluator.progress.start_phase("the smallest set")
    try:
        for start in starts:
            if minimizer.has_verdict(start):
                return minimized(start)
    finally:
        judge.close()
    what = "skipped" if mode == "skip" else "applied alone"
    raise NothingFound(
        "untestable",
        f"Name and location do not identify the candidates: the output is not {verdict} when "
        f"all of them are {what} by name and location. Use --mode first.",
        (candidates[0].ordinal, candidates[-1].ordinal),
    )
