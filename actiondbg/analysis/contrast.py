"""The contrast of a failed attempt with the successes of its pattern.

Each statement about an operation and what is around it, such as "operand 0 is a constant", divides
the attempts in two. The best ones hold where the pattern succeeded, do not hold in the failed
attempt in question, and hold in few other failures.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from actiondbg.analysis.attempts import Attempt
from actiondbg.analysis.features import RELATIONS, TYPES, Feature, Features, Relation, Value

_SHOWN = 3  # findings, and equivalent statements of each
_DIFFERENCES = 5  # between the failure and the nearest success
_LEAST = 0.5  # share of the successes in which a statement holds
_THRESHOLDS = 12  # numbers with which the values of a feature are compared
_FAR = (4, 2, 1)  # weights of features by distance
# What a statement costs, in accuracy: the more may be said of its kind, the more evidence it needs.
_DISTANCE, _COST, _VAGUE = 0.15, 0.05, 0.1
# Costs: patterns ask for one use, hardly ever for seven, and for what is the same, not different.
_COUNT_OF_USES, _DIFFERENT = 6, 3
_SAME_DEFINER = 0.07  # less for a relation to definers that are those of the successes


class Example(msgspec.Struct, kw_only=True, frozen=True):
    """An attempt and the features of its operation; ``run`` is another run, or None."""

    attempt: Attempt
    features: Features
    run: str | None = None

    @property
    def succeeded(self) -> bool:
        """Whether the pattern matched."""
        return is_success(self.attempt)


class Finding(msgspec.Struct, kw_only=True, frozen=True):
    """A statement that separates successes from failures."""

    statement: str  # what holds in the successes, and not in the failure in question
    successes: int  # the number of successes in which it holds
    failures: int  # the number of failures in which it holds
    here: str | None  # the value in the failure in question; None for a fact
    equivalent: list[str]  # other statements that hold in the same attempts
    more: int  # the number of further such statements


class Difference(msgspec.Struct, kw_only=True, frozen=True):
    """A statement about the nearest success, which does not hold in the failure."""

    statement: str
    here: str | None


class Contrast(msgspec.Struct, kw_only=True, frozen=True):
    """A failed attempt, compared with all attempts of its pattern."""

    name: str  # of the pattern
    failure: Attempt  # the attempt in question
    successes: int  # the number of successes, each operation counted once as long as it is the same
    failures: int  # the number of failures without a reason, likewise
    findings: list[Finding]  # the best ones first
    nearest: Attempt | None  # the success that differs least; None without any
    run: str | None  # the other run that it belongs to, or None
    differences: list[Difference]  # between the two, the most important first


def is_success(attempt: Attempt) -> bool:
    """Return whether the pattern matched, whether or not it changed anything."""
    return attempt.outcome.result in ("succeeded", "unchanged")


def is_silent(attempt: Attempt) -> bool:
    """Return whether the pattern failed and gave no reason."""
    return attempt.outcome.result == "failed" and not attempt.outcome.reasons


def silent_failure(attempts: Sequence[Attempt]) -> Attempt | None:
    """Return the newest attempt that failed without a reason; None if there is none."""
    return next((one for one in reversed(attempts) if is_silent(one)), None)


def contrast_of(failure: Example, others: Iterable[Example]) -> Contrast:
    """Compare a failed attempt with successes of the pattern, and failures without a reason."""
    successes, failures = list[Example](), [failure]
    for one in others:
        (successes if one.succeeded else failures).append(one)
    nearest = min(successes, key=lambda one: _distance(failure, one), default=None)
    return Contrast(
        name=failure.attempt.name,
        failure=failure.attempt,
        successes=len(successes),
        failures=len(failures),
        findings=_findings(failure, successes, failures),
        nearest=nearest.attempt if nearest else None,
        run=nearest.run if nearest else None,
        differences=_differences(failure, nearest) if nearest else [],
    )


# --- statements ----------------------------------------------------------------------


class _Statement(msgspec.Struct, frozen=True):
    feature: Feature
    relation: Relation
    value: Value

    def holds(self, value: Value | None) -> bool:
        """Return whether the statement holds for a value of the feature."""
        match self.relation:
            case "is":
                return value == self.value
            case "is not":
                return value is not None and value != self.value
            case ">=":
                return isinstance(value, int) and value >= int(self.value)
            case "<=":
                return isinstance(value, int) and value <= int(self.value)

    @property
    def penalty(self) -> float:
        """A penalty for statements about distant operations, and for vague or costly ones.

        Of two statements with the same evidence, the one with the smaller penalty comes first.
        """
        distance, cost = self.feature.cost
        if self.feature.aspect == "uses" and (self.relation != "is" or self.value not in (0, 1)):
            cost += _COUNT_OF_USES
        if self.feature.aspect in RELATIONS and self.value is not True:
            cost += _DIFFERENT
        is_vague = self.relation == "is not" and self.feature.has_value
        is_text = self.feature.aspect == "attribute" and isinstance(self.value, str)
        return _DISTANCE * distance + _COST * cost + _VAGUE * is_vague + _DISTANCE * is_text

    @property
    def topic(self) -> object:
        """The aspect for types and their parts; otherwise the statement."""
        return self.feature.aspect if self.feature.aspect in TYPES else self

    @property
    def order(self) -> tuple[float, str]:
        """The order of statements with the same evidence."""
        return self.penalty, self.text

    @property
    def text(self) -> str:
        return self.feature.statement(self.relation, self.value)


class _Ranked(msgspec.Struct, frozen=True):
    """A statement; ``held`` are bits for the examples in which it holds, successes first."""

    statement: _Statement
    held: int
    successes: int
    failures: int
    accuracy: float
    penalty: float

    @property
    def score(self) -> float:
        """The balanced accuracy, less what the statement costs."""
        return self.accuracy - self.penalty

    @property
    def order(self) -> tuple[float, str]:
        """The order of statements with the same evidence."""
        return self.penalty, self.statement.text


def _findings(
    failure: Example, successes: Sequence[Example], failures: Sequence[Example]
) -> list[Finding]:
    if not successes:
        return []
    groups: dict[int, list[_Ranked]] = {}
    for one in _ranked(failure, successes, failures):
        groups.setdefault(one.held, []).append(one)
    best = [sorted(group, key=lambda one: one.order) for group in groups.values()]
    best.sort(key=lambda group: (-group[0].score, group[0].order))
    # One finding for each topic: the sizes of each operand would leave no place for another.
    first: dict[object, list[_Ranked]] = {}
    for group in best:
        first.setdefault((group[0].statement.topic, _is_needed(group[0], successes)), group)
    # What holds in a part of the successes only is no condition; it may be one of several.
    needed = [group for group in first.values() if _is_needed(group[0], successes)]
    partial = [group for group in first.values() if not _is_needed(group[0], successes)]
    if any(group[0].accuracy == 1 for group in needed):
        partial = []
    if partial and len(needed) >= _SHOWN and partial[0][0].score > needed[_SHOWN - 1][0].score:
        needed = needed[: _SHOWN - 1]
    return [_finding(failure, group) for group in [*needed, *partial][:_SHOWN]]


def _is_needed(one: _Ranked, successes: Sequence[Example]) -> bool:
    """Return whether a statement holds in all successes."""
    return one.successes == len(successes)


def _finding(failure: Example, group: list[_Ranked]) -> Finding:
    # One statement for each feature: "is 2" makes "is not 3" superfluous.
    best: dict[Feature, _Ranked] = {}
    for one in group:
        best.setdefault(one.statement.feature, one)
    first, *rest = best.values()
    return Finding(
        statement=first.statement.text,
        successes=first.successes,
        failures=first.failures,
        here=_here(first.statement.feature, failure),
        equivalent=[one.statement.text for one in rest[: _SHOWN - 1]],
        more=max(0, len(rest) - (_SHOWN - 1)),
    )


def _here(feature: Feature, failure: Example) -> str | None:
    if not feature.has_value:
        return None
    value = feature.of(failure.features)
    return "none" if value is None else str(value)


def _ranked(
    failure: Example, successes: Sequence[Example], failures: Sequence[Example]
) -> Iterator[_Ranked]:
    """Yield the statements that hold in the successes, and not in the failed attempt."""
    examples = [*successes, *failures]
    features = {feature for one in successes for feature in one.features}
    features |= failure.features.keys()
    for feature in features:
        values = [feature.of(one.features) for one in examples]
        here = feature.of(failure.features)
        good = Counter(values[: len(successes)])
        bonus = _bonus(feature, failure, successes)
        for statement in _statements(feature, here, good, len(successes)):
            held = [statement.holds(value) for value in values]
            in_successes = sum(held[: len(successes)])
            in_failures = sum(held[len(successes) :])
            accuracy = (in_successes / len(successes) + 1 - in_failures / len(failures)) / 2
            yield _Ranked(
                statement,
                int("".join("01"[one] for one in held), 2),
                in_successes,
                in_failures,
                round(accuracy, 6),
                statement.penalty - bonus * (statement.value is True),
            )


def _bonus(feature: Feature, failure: Example, successes: Sequence[Example]) -> float:
    """Return the bonus for a relation, where the definers are those of the successes.

    Then the pattern does not fail by what they are, but rather by how they are related.
    """
    if not feature.definers:
        return 0
    for definer in feature.definers:
        here = definer.of(failure.features)
        if here is None or any(definer.of(one.features) != here for one in successes):
            return 0
    return _DISTANCE * feature.distance + _SAME_DEFINER


def _statements(
    feature: Feature, here: Value | None, good: Counter[Value | None], count: int
) -> Iterator[_Statement]:
    """Yield statements that do not hold here, but in a good part of the successes."""
    least = _LEAST * count
    for value, times in good.items():
        if value is not None and value != here and times >= least:
            yield _Statement(feature, "is", value)
    if not feature.has_value or here is None:
        return
    if count - good[here] - good[None] >= least:
        yield _Statement(feature, "is not", here)
    numbers = sorted(one for one in good if isinstance(one, int))
    if not isinstance(here, int) or len(numbers) < 2:
        return
    for number in numbers[:_THRESHOLDS]:
        if here < number:
            yield _Statement(feature, ">=", number)
    for number in numbers[-_THRESHOLDS:]:
        if here > number:
            yield _Statement(feature, "<=", number)


# --- the nearest success -------------------------------------------------------------


def _distance(failure: Example, success: Example) -> tuple[int, bool, int]:
    """Return how much an example differs: by features, then by run and by ordinal."""
    features = failure.features.keys() | success.features.keys()
    weight = sum(
        _FAR[min(feature.distance, 2)]
        for feature in features
        if feature.of(failure.features) != feature.of(success.features)
    )
    gap = abs(failure.attempt.ordinal - success.attempt.ordinal)
    return weight, success.run is not None, gap


def _differences(failure: Example, success: Example) -> list[Difference]:
    statements = [
        _Statement(feature, "is", value)
        for feature in success.features.keys() | failure.features.keys()
        if (value := feature.of(success.features)) is not None
        and value != feature.of(failure.features)
    ]
    statements.sort(key=lambda one: one.order)
    return [
        Difference(statement=one.text, here=_here(one.feature, failure))
        for one in statements[:_DIFFERENCES]
    ]
