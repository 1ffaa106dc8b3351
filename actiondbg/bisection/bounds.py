"""The bounds of the search: the whole run, which is bad, and a run without candidates, good."""

from __future__ import annotations

import hashlib
from array import array
from dataclasses import dataclass, field

from actiondbg.bisection import messages
from actiondbg.bisection.candidates import (
    Record,
    RecordedAction,
    Scheme,
    SchemeQueue,
    candidates_of,
)
from actiondbg.bisection.evaluator import TrialEvaluator
from actiondbg.bisection.messages import NothingFound
from actiondbg.bisection.minimizer import Interval
from actiondbg.bisection.oracles import TrialFiles
from actiondbg.bisection.trial import Trial, TrialResult
from actiondbg.bisection.verdict import Judgement

# The limits of a trial, if the user gives none: the larger of these. A tool of which actions are
# skipped may not end at all.
_LEAST_SECONDS = 60.0
_LEAST_PROCESSOR_SECONDS = 5.0
_TIMES_WHOLE_RUN = 20.0
_TIMES_PROCESSOR = 10.0
_WHOLE_COMPILER = 40  # passes that changed the IR; a pipeline of mlir-opt has fewer
_MOST_UNTESTABLE = 2  # starts, before the passes are left out one by one


@dataclass
class Bounds:
    """Candidates, of which the first ``interval.good`` are good and ``interval.bad`` are bad.

    Attributes:
        scheme: the scheme of the candidates.
        candidates: by ordinal.
        interval: the lengths of the longest good and the shortest bad prefix.
        evidence: the files of trials at the ends of the interval, by length of the prefix.
    """

    scheme: Scheme
    candidates: list[RecordedAction]
    interval: Interval
    evidence: dict[int, TrialFiles] = field(default_factory=dict[int, TrialFiles])

    @property
    def left(self) -> list[RecordedAction]:
        """The candidates of which one is the culprit."""
        return self.candidates[self.interval.good : self.interval.bad]

    def index(self, ordinal: int) -> int | None:
        """Return the index of the candidate that is an action; None if it is no candidate."""
        return next((at for at, one in enumerate(self.candidates) if one.ordinal == ordinal), None)

    @property
    def culprit(self) -> RecordedAction:
        """The last candidate of the shortest bad prefix."""
        return self.candidates[self.interval.bad - 1]


def evaluate_whole_run(
    evaluator: TrialEvaluator, keys: bool, is_event: bool = False, speculative: bool = False
) -> tuple[Record, TrialFiles | None]:
    """Run the tool without skips; the output must be bad.

    Args:
        evaluator: runs the trial; gets its time limits from the duration of this one.
        is_event: the oracle looks for an event: a run that ends without it is not bad.
        speculative: run the first trial without candidates while the output is judged.

    Returns:
        The record of the run, and its files.

    Raises:
        NothingFound: the output is not bad.
    """
    evaluator.progress.start_phase("the whole run")
    trial = evaluator.whole_run()
    evidence, record = evaluator.run_recorded(trial, keys)
    evaluator.whole = record
    evaluator.whole_stop = evidence.stop
    if evaluator.seconds is None:
        evaluator.seconds = max(_LEAST_SECONDS, _TIMES_WHOLE_RUN * evidence.seconds)
        evaluator.processor = max(_LEAST_PROCESSOR_SECONDS, _TIMES_PROCESSOR * evidence.seconds)
    if speculative:
        ahead = StartSearch(evaluator, record, None).first_trial()
        if ahead is not None:
            evaluator.start_speculative(ahead)
    judgement = evaluator.judge_run(trial, evidence)
    stop = evidence.stop
    if stop is None:
        raise messages.too_slow(evaluator.seconds)
    if judgement.verdict != "bad":
        raise messages.not_bad(judgement, is_event, stop.reason == "crashed")
    evaluator.verdicts.check("actions", _digest(record))
    return record, evidence


class StartSearch:
    """Tries schemes until the run that skips all candidates is good."""

    def __init__(
        self, evaluator: TrialEvaluator, record: Record, whole_run: TrialFiles | None
    ) -> None:
        self._evaluator = evaluator
        self._record = record
        self._whole_run = whole_run
        allowed = {one.argument or "" for one in record.selected}
        self._queue = SchemeQueue(record, allowed, evaluator.filter.only_passes)
        self._failures: list[tuple[int, Judgement]] = []  # numbers of candidates, judgements

    def first_trial(self) -> Trial | None:
        """Return the trial that skips all candidates of the first scheme; None without any."""
        for scheme in self._queue.schemes():
            candidates = candidates_of(self._record, scheme)
            if candidates:
                return self._evaluator.prefix(scheme, candidates, 0)
        return None

    def find(self) -> Bounds:
        """Find a scheme whose candidates can all be skipped, so that the output is good.

        Raises:
            NothingFound: there is no such scheme.
        """
        evaluator = self._evaluator
        required: list[RecordedAction] = []
        untestable = 0
        for scheme in self._queue.schemes():
            candidates = candidates_of(self._record, scheme)
            if not candidates:
                continue
            if self._failures:
                note = f"{messages.all_skipped(*self._failures[-1])} Then {scheme.words}."
                evaluator.progress.add_note(note)
            evaluator.check_limit()
            evaluator.progress.start_phase("the start")
            evaluator.candidates = len(candidates)
            result, failed_pass = self._evaluate(scheme, candidates)
            if result.judgement.verdict == "good":
                return self._space(scheme, candidates, result.evidence)
            result.remove_files()
            self._failures.append((len(candidates), result.judgement))
            self._queue.failed(scheme, result.judgement.verdict, failed_pass)
            if result.judgement.verdict == "bad" and not required:
                required = self._required_passes(scheme)
            untestable += result.judgement.verdict == "untestable" and failed_pass is None
            if untestable == _MOST_UNTESTABLE:
                untestable += 1  # so that this happens once
                is_compiler = len(self._changing_passes()) >= _WHOLE_COMPILER
                space = self._without_one_pass() if is_compiler else None
                if space is not None:
                    return space
                self._queue.require(*self._find_required_passes())
        is_bad = any(judgement.verdict == "bad" for _, judgement in self._failures)
        space = self._without_one_pass() if is_bad else None
        if space is None:
            raise self._no_start(required)
        return space

    def _evaluate(
        self, scheme: Scheme, candidates: list[RecordedAction]
    ) -> tuple[TrialResult, str | None]:
        """Skip all candidates; return the pass in which the tool failed too, if it did."""
        evaluator = self._evaluator
        trial = evaluator.prefix(scheme, candidates, 0)
        cached = evaluator.cached(trial)
        ahead = evaluator.take_speculative(trial)
        if ahead is not None:
            return ahead, None
        if cached is not None and cached.verdict != "untestable":
            return TrialResult(cached), None
        result, record = evaluator.record(trial)
        stop = result.evidence.stop if result.evidence else None
        has_failed = stop is not None and stop.when == "exit" and stop.status != 0
        return result, record.failed_pass() if has_failed else None

    def _find_required_passes(self) -> tuple[set[str], set[str]]:
        """Find the required and the idle passes, see ``SchemeQueue.require``.

        Each trial leaves one more pass out, so that all removable passes can be left out together.
        """
        evaluator = self._evaluator
        passes = self._queue.removable_passes()
        evaluator.progress.start_phase("the passes that must run", len(passes))
        required: set[str] = set()
        removed: set[str] = set()
        idle: set[str] = set()
        for argument in passes:
            evaluator.check_limit()
            scheme = self._queue.leaving_out(removed | {argument})
            candidates = candidates_of(self._record, scheme)
            if not candidates:
                idle.add(argument)
                continue
            result = evaluator.evaluate(evaluator.prefix(scheme, candidates, 0))
            result.remove_files()
            is_removable = result.judgement.verdict != "untestable"
            (removed if is_removable else required).add(argument)
        return required, idle

    def _without_one_pass(self) -> Bounds | None:
        """Return the runs of the first pass without which alone the output is good, or None.

        A whole compiler needs most of its passes: several that are left out together break its
        output, each in its own way. And an output may be good by one pass, and bad by a later one,
        as the speed of a program: the run that skips both is bad as well.
        """
        evaluator, record = self._evaluator, self._record
        passes = self._changing_passes()
        evaluator.progress.start_phase("single passes", len(passes))
        for argument in passes:
            evaluator.check_limit()
            scheme = self._queue.without(argument)
            candidates = candidates_of(record, scheme)
            result = evaluator.evaluate(evaluator.prefix(scheme, candidates, 0))
            if result.judgement.verdict == "good":
                evaluator.candidates = len(candidates)
                evaluator.progress.add_note(
                    f"Passes were left out one by one: without {argument} alone the output is good."
                )
                return self._space(scheme, candidates, result.evidence)
            result.remove_files()
        return None

    def _changing_passes(self) -> list[str]:
        record = self._record
        changed = {one.argument for one in record.selected if one.changed or record.actions_in(one)}
        return [each for each in self._queue.removable_passes() if each in changed]

    def _space(
        self, scheme: Scheme, candidates: list[RecordedAction], start: TrialFiles | None
    ) -> Bounds:
        space = Bounds(scheme, candidates, Interval(0, len(candidates)))
        for length, evidence in ((0, start), (len(candidates), self._whole_run)):
            if evidence is not None:
                space.evidence[length] = evidence
        return space

    def _required_passes(self, scheme: Scheme) -> list[RecordedAction]:
        """Return the passes that changed the IR in the run that skips all candidates."""
        held = scheme.held - scheme.passes
        return [
            one
            for one in self._record.passes
            if one.argument in held and (one.changed or self._record.actions_in(one))
        ]

    def _no_start(self, required: list[RecordedAction]) -> NothingFound:
        options, record = self._evaluator.filter.options, self._record
        if not self._failures:
            return messages.no_candidates(options)
        for count, judgement in self._failures:
            if judgement.verdict == "bad" and required and not options:
                return messages.required_bad(required, count, judgement)
            if judgement.verdict == "bad":
                return messages.start_bad(count, judgement, options)
        ordinals = [one.ordinal for one in (*record.actions, *record.passes)]
        return messages.start_untestable(*self._failures[0], (min(ordinals), max(ordinals)))


def _digest(record: Record) -> str:
    ordinals = array("Q", (one.ordinal for one in (*record.actions, *record.passes)))
    return f"{len(ordinals)} of digest {hashlib.sha256(ordinals.tobytes()).hexdigest()[:16]}"
