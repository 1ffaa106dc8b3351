"""Finding the first candidate whose application turns good to bad."""

from __future__ import annotations

import math

from actiondbg.bisection import messages as telling
from actiondbg.bisection.bounds import Searched
from actiondbg.bisection.candidates import Record, Row, candidates_of
from actiondbg.bisection.search.binary import Found, Interval, search
from actiondbg.bisection.trials.evaluator import Asking
from actiondbg.bisection.trials.runner import Outcome, Pool, Prefixes, forget
from actiondbg.bisection.trials.trials import Task
from actiondbg.bisection.verdict import Judgement
from actiondbg.process.stop import Stop

_NAMED = 3  # actions in a pass that is to blame as a whole


class Finding:
    """Finds where good turns to bad.

    Args:
        asking: makes single trials.
        pool: makes those of the search.
        record: of the whole run.
        jobs: how many trials run at a time.
        confirms: whether ``confirm`` will be called.
    """

    def __init__(
        self, asking: Asking, pool: Pool, record: Record, jobs: int, confirms: bool
    ) -> None:
        self._asking = asking
        self._pool = pool
        self._record = record
        self._jobs = jobs
        self._confirms = confirms

    def find(self, searched: Searched) -> Searched:
        """Narrow to one candidate, and to an action in it if it is a pass.

        Raises:
            Ended: it cannot be narrowed, as what lies between is untestable.
        """
        self._search(searched)
        return self._refine(searched)

    def confirm(self, searched: Searched) -> Judgement:
        """Judge the run that skips only the guilty one."""
        self._asking.meter.phase("the confirmation", 1)
        outcome = self._asking.judge(self._confirmation(searched, searched.interval.bad))
        forget(outcome.evidence)
        return outcome.judgement

    def judge_again(self, searched: Searched) -> None:
        """Judge the newest good output and the oldest bad one once more.

        Raises:
            Disagreement: the oracle is flaky.
        """
        self._asking.meter.phase("the last look", 0)
        for prefix in (searched.interval.good, searched.interval.bad):
            evidence = searched.evidence.get(prefix)
            before = self._judgement(searched, prefix)
            if evidence is not None and before is not None:
                self._asking.look_again(evidence, before)

    def _confirmation(self, searched: Searched, bad: int) -> Task:
        """Return the trial that skips only the candidate of a number, from 1."""
        row = searched.units[bad - 1]
        plan = self._asking.plan(searched.scheme, only=row.ordinal)
        return self._asking.task(plan, row.ordinal)

    def _judgement(self, searched: Searched, prefix: int) -> Judgement | None:
        return self._asking.known(self._asking.prefix(searched.scheme, searched.units, prefix))

    def _search(self, searched: Searched) -> None:
        asking, units, interval = self._asking, searched.units, searched.interval
        asking.meter.phase("the search", math.ceil(math.log2(interval.bad - interval.good)) + 1)

        def judged(prefix: int, outcome: Outcome) -> None:
            asking.meter.judged()
            if outcome.evidence is not None and prefix >= 0:
                searched.evidence[prefix] = outcome.evidence

        def task(prefix: int) -> Task:
            if prefix < 0:
                return self._confirmation(searched, -prefix)
            return asking.prefix(searched.scheme, units, prefix)

        def narrowed(interval: Interval) -> None:
            _forget_others(searched)
            first, last = units[interval.good].ordinal, units[interval.bad - 1].ordinal
            asking.meter.narrowed(first, last, interval.bad - interval.good, 1)

        judge = Prefixes(self._pool, task, asking.state, judged)
        found = search(interval, judge, self._jobs, narrowed=narrowed, confirms=self._confirms)
        self._tell_surprises(found, searched)
        if not interval.is_narrow:
            raise self._stuck(searched)

    def _tell_surprises(self, found: Found, searched: Searched) -> None:
        for prefix in found.surprises:
            ordinal = searched.units[prefix - 1].ordinal
            self._asking.meter.note(telling.surprise(ordinal, found.verdicts[prefix]))

    def _stuck(self, searched: Searched) -> telling.Ended:
        interval = searched.interval
        rows = searched.units[interval.good : interval.bad]
        judgement = self._judgement(searched, interval.untestable[0])
        ordinal = rows[0].ordinal
        around = [row for row in self._record.passes if row.ordinal <= ordinal <= row.last]
        return telling.stuck(rows, judgement, around[-1].argument if around else None)

    def _refine(self, searched: Searched) -> Searched:
        """Look for the guilty action in a guilty pass that was taken as a whole."""
        asking, row = self._asking, searched.guilty
        if row.argument is None or row.argument not in searched.scheme.held:
            return searched
        scheme = searched.scheme.opening(row.argument)
        kept = [one for one in self._record.passes if asking.choice.takes(one)]
        units = candidates_of(self._record, scheme, kept)
        good = sum(one.ordinal <= row.ordinal for one in units)
        bad = sum(one.ordinal <= row.last for one in units)
        if good == bad:
            return searched
        asking.meter.phase(f"the inside of {row.argument}")
        opened = Searched(scheme, units, Interval(good, bad))
        for prefix, wanted in ((good, "good"), (bad, "bad")):
            outcome = asking.judge(asking.prefix(scheme, units, prefix))
            if outcome.evidence is not None:
                opened.evidence[prefix] = outcome.evidence
            if outcome.judgement.verdict != wanted:
                note = telling.not_opened(row, prefix == good, outcome.judgement)
                asking.meter.note(note + self._inside(row))
                return searched
        asking.candidates += bad - good
        try:
            self._search(opened)
        except telling.Ended as ended:
            asking.meter.note(f"In {row.argument} it cannot be told closer. {ended.message}")
            return searched
        return opened

    def _inside(self, row: Row) -> str:
        """Name what a pass applied, if that is little."""
        actions = self._record.inside(row)
        if len(actions) > _NAMED:
            return ""
        stops: list[Stop] = []
        for each in actions:
            with self._asking.trials.replay(each.ordinal) as replica:
                stops += [replica.stop] if replica.stop else []
        named = (f"#{stop.ordinal} {stop.tag} ({stop.name or 'nameless'})" for stop in stops)
        return f" In it, {' and '.join(named)} changed the IR."


def _forget_others(searched: Searched) -> None:
    """Remove what is not needed to judge the ends of the interval again."""
    interval = searched.interval
    for prefix in list(searched.evidence):
        if not interval.good <= prefix <= interval.bad:
            forget(searched.evidence.pop(prefix))
