"""What the dialect conversions of a recording tried in vain."""

from __future__ import annotations

import re

import numpy as np

from actiondbg.analysis.legalization.explanation import Explanation, OtherFailure
from actiondbg.analysis.legalization.tree import (
    Conversion,
    Legalization,
    NestedAttempt,
    legalizations_of,
)
from actiondbg.protocol.legalizations import ErrorReported
from actiondbg.protocol.tags import CONVERSION_TAG, PASS_TAG, PATTERN_TAG
from actiondbg.recording.format.arrow import Bools, Ints
from actiondbg.recording.session.descriptions import ActionDescriptions

_MOST = 1000  # operations that conversions left
_FAILED_AT = re.compile(r"failed to legalize operation '([^']*)'")


class RecordedConversions:
    """Reads the attempts of patterns in dialect conversions."""

    def __init__(self, describe: ActionDescriptions) -> None:
        self._describe = describe
        self._actions = describe.actions
        self._line = describe.actions.line

    def explain(
        self, event: int, target: str | None = None, wanted: Ints | None = None
    ) -> Explanation:
        """Return the conversions that failed up to an event, and those that left an operation.

        Args:
            event: the position of the session.
            target: what was asked for, as the user wrote it; None for failures only.
            wanted: the places of the attempts on operations that are asked for.
        """
        is_conversion = self._actions.is_tag(CONVERSION_TAG)
        over = self._line.over(event)
        outcomes = self._actions.words("outcome")
        failed = outcomes.codes == outcomes.code("failed")
        conversions: list[Conversion] = []
        for place in np.flatnonzero(is_conversion & (self._line.begins <= event)).tolist():
            if failed[place] or (not over[place] and wanted is None):
                conversions.append(self._failed(place, event))
            elif over[place] and wanted is not None:
                left = self._left(place, wanted, over)
                if left:
                    conversions.append(self._conversion(place, left, failed=False))
        explanation = Explanation(target=target, conversions=conversions, is_recorded=True)
        if target is None:
            is_pass = self._actions.is_tag(PASS_TAG) & over
            explanation.take_other(self._other_failure(np.flatnonzero(is_pass & failed)))
        return explanation

    def _other_failure(self, passes: Ints) -> OtherFailure | None:
        """Return the failure of the innermost of the passes that failed."""
        if not len(passes):
            return None
        place = int(passes[-1])
        message = "; ".join(self._describe.reasons(place)[:1])
        return OtherFailure(kind="pass", message=message, culprit=self._describe.culprit(place))

    def _conversion(
        self, place: int, legalizations: list[Legalization], *, failed: bool | None
    ) -> Conversion:
        stack = self._line.stack(place)
        tags, names = self._actions.words("tag"), self._actions.words("name")
        passes = [each for each in stack if tags.of(each) == PASS_TAG]
        reference = self._describe.reference(place)
        errors = self._describe.outcome(place).reasons if failed else []
        return Conversion(
            ordinal=reference.ordinal,
            full=None,
            pass_name=names.of(passes[0]) if passes else None,
            function=reference.function,
            failed=failed,
            legalizations=legalizations,
            errors=[ErrorReported(text=text, location=None, notes=[]) for text in errors],
        )

    def _failed(self, place: int, event: int) -> Conversion:
        """Return a failed conversion with what it tried for the operation at which it failed; of a
        conversion that has not ended at an event, for the newest operation.
        """
        over = self._line.over(event)
        top = self._line.depth(place) + 1
        inside = np.arange(place + 1, self._line.last_inside(place) + 1)
        inside = inside[self._line.begins[inside] <= event]
        patterns = inside[self._actions.is_tag(PATTERN_TAG)[inside]]
        depths = self._line.depths[patterns]
        newest = patterns[depths == top]
        found = self._conversion(place, [], failed=True if over[place] else None)
        names = {match[1] for each in found.errors if (match := _FAILED_AT.search(each.text))}
        if not len(newest):
            return self._without_attempt(found, names)
        operation = self._actions.numbers("operation")[newest]
        # Back to the first attempt of the newest operation.
        other = np.flatnonzero(operation != operation[-1])
        first = newest[other[-1] + 1] if len(other) else newest[0]
        trees = self._trees(patterns[patterns >= first], over)
        if names and trees[-1].op not in names:
            return self._without_attempt(found, names)
        found.legalizations = trees[-1:]
        return found

    def _without_attempt(self, found: Conversion, names: set[str]) -> Conversion:
        found.legalizations = [
            Legalization(id=None, op=name, location=None, legality=None, legalized=False)
            for name in sorted(names)
        ]
        return found

    def _left(self, place: int, wanted: Ints, over: Bools) -> list[Legalization]:
        """Return the wanted operations for which a conversion tried patterns in vain."""
        last = self._line.last_inside(place)
        inside = wanted[(wanted > place) & (wanted <= last)]
        inside = inside[self._line.depths[inside] == self._line.depth(place) + 1]
        operations = self._actions.numbers("operation")[inside]
        begins = np.flatnonzero(np.diff(operations, prepend=-1))
        groups = np.split(inside, begins[1:])[:_MOST] if len(inside) else []
        trees = [self._trees(self._nested(group), over)[0] for group in groups]
        return [each for each in trees if not each.legalized]

    def _nested(self, attempts: Ints) -> Ints:
        """Return the attempts in some attempts, and these."""
        ranges: list[Ints] = [
            np.arange(at, self._line.last_inside(at) + 1) for at in attempts.tolist()
        ]
        places: Ints = np.concatenate(ranges)
        return places[self._actions.is_tag(PATTERN_TAG)[places]]

    def _trees(self, places: Ints, over: Bools) -> list[Legalization]:
        return legalizations_of(
            NestedAttempt(self._line.depth(place), self._describe.attempt(place), bool(over[place]))
            for place in places.tolist()
        )
