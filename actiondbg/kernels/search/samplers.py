"""The space of a search, and its strategies: samplers, which propose points and may learn."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Literal

import msgspec

from actiondbg.errors import ActiondbgError
from actiondbg.kernels.model import Parameter

if TYPE_CHECKING:
    import optuna

SamplerName = Literal["tpe", "random"]
# How often a sampler may propose points that it has seen, until it gets one at random.
_ATTEMPTS = 20
# The index of the choice of each parameter, in the order of the parameters.
Point = tuple[int, ...]


class SearchSpace:
    """Points, one choice of each parameter.

    Args:
        parameters: their choices, by their names.

    Attributes:
        size: the number of points; 0 if there is no parameter.
    """

    def __init__(self, parameters: Mapping[str, Sequence[Parameter]]) -> None:
        self.names = list(parameters)
        self.choices = [list(choices) for choices in parameters.values()]
        self.size = math.prod(map(len, self.choices)) if self.names else 0

    def choice(self, point: Point) -> dict[str, Parameter]:
        pairs = zip(self.names, self.choices, point, strict=True)
        return {name: choices[index] for name, choices, index in pairs}

    def point(self, parameters: Mapping[str, Parameter]) -> Point | None:
        """Return the point of parameters; None if one is missing, or has another value."""
        found: list[int] = []
        for name, choices in zip(self.names, self.choices, strict=True):
            if name not in parameters:
                return None
            texts = [msgspec.json.encode(each) for each in choices]
            text = msgspec.json.encode(parameters[name])
            if text not in texts:
                return None
            found.append(texts.index(text))
        return tuple(found)

    def point_at(self, number: int) -> Point:
        """Return the point of a number, from 0 to the size without it."""
        found: list[int] = []
        for choices in reversed(self.choices):
            number, index = divmod(number, len(choices))
            found.append(index)
        return tuple(reversed(found))


class RandomSampler:
    """Proposes points in a random order."""

    def __init__(self, space: SearchSpace, seed: int) -> None:
        self._space = space
        self._random = random.Random(seed)
        self._drawn = 0
        self._moved: dict[int, int] = {}  # of a shuffled list of all numbers, what has moved
        self._seen: set[Point] = set()

    def propose(self) -> Point | None:
        """Return a point that was neither proposed nor learned before; None if none is left."""
        while self._drawn < self._space.size:
            point = self._space.point_at(self._draw())
            if point not in self._seen:
                self._seen.add(point)
                return point
        return None

    def learn(self, point: Point, seconds: float) -> None:
        """Learn the time of a point; it is infinite if the kernel is wrong or does not fit.

        A point that was learned before is ignored.
        """
        self._seen.add(point)

    def _draw(self) -> int:
        """Take one step of a Fisher-Yates shuffle."""
        position = self._random.randrange(self._drawn, self._space.size)
        number = self._moved.get(position, position)
        self._moved[position] = self._moved.pop(self._drawn, self._drawn)
        self._drawn += 1
        return number


class TpeSampler:
    """Proposes points by a tree-structured Parzen estimator: near those that were fast."""

    def __init__(self, space: SearchSpace, seed: int) -> None:
        import optuna
        from optuna.distributions import CategoricalDistribution, IntDistribution

        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self._space = space
        self._others = RandomSampler(space, seed)
        self._study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))
        # The state of a trial that the model ignores: its time is learned as another one.
        self._ignored = optuna.trial.TrialState.FAIL
        self._distributions: dict[str, optuna.distributions.BaseDistribution] = {}
        for name, choices in zip(space.names, space.choices, strict=True):
            count = len(choices)
            # Neighbours are alike where the choices are rising numbers.
            numbers = [it for it in choices if isinstance(it, int) and not isinstance(it, bool)]
            is_ordered = len(numbers) == count and numbers == sorted(numbers)
            self._distributions[name] = (
                IntDistribution(0, count - 1)
                if is_ordered
                else CategoricalDistribution(list(range(count)))
            )
        self._times: dict[Point, float] = {}

    def propose(self) -> Point | None:
        for _ in range(_ATTEMPTS):
            trial = self._study.ask(self._distributions)
            point = tuple(trial.params[name] for name in self._space.names)
            if point not in self._times:
                self._study.tell(trial, state=self._ignored)
                self._others.learn(point, 0.0)
                return point
            self._study.tell(trial, self._times[point])
        return self._others.propose()

    def learn(self, point: Point, seconds: float) -> None:
        from optuna.trial import create_trial

        if point in self._times:
            return
        self._times[point] = seconds
        self._others.learn(point, seconds)
        params = dict(zip(self._space.names, point, strict=True))
        self._study.add_trial(
            create_trial(params=params, distributions=self._distributions, value=seconds)
        )


Sampler = RandomSampler | TpeSampler


def make_sampler(name: SamplerName, space: SearchSpace, seed: int) -> Sampler:
    """Make a sampler.

    Raises:
        ActiondbgError: it needs a package that is not installed.
    """
    if name == "random":
        return RandomSampler(space, seed)
    if find_spec("optuna") is None:
        raise ActiondbgError(
            "The sampler tpe needs the package optuna: pip install 'actiondbg[search]', or use "
            "--sampler random."
        )
    return TpeSampler(space, seed)
