"""The space of a search: parameters with their choices."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import msgspec

from actiondbg.kernels.model.configuration import Parameter

# The index of the choice of each parameter, in the order of the parameters.
Point = tuple[int, ...]


class SearchSpace:
    """Points, one choice of each parameter.

    Args:
        parameters: their choices, by their names.

    Attributes:
        names: of the parameters.
        choices: of each parameter.
        size: the number of points; 0 if there is no parameter.
    """

    def __init__(self, parameters: Mapping[str, Sequence[Parameter]]) -> None:
        self.names = list(parameters)
        self.choices = [list(choices) for choices in parameters.values()]
        self.size = math.prod(map(len, self.choices)) if self.names else 0

    def choice(self, point: Point) -> dict[str, Parameter]:
        """Return the parameters of a point."""
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

    def is_ordered(self, position: int) -> bool:
        """Whether the choices of a parameter are rising numbers: neighbours are then alike."""
        choices = self.choices[position]
        numbers = [each for each in choices if isinstance(each, int) and not isinstance(each, bool)]
        return len(numbers) == len(choices) and numbers == sorted(numbers)
