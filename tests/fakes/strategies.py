"""What hypothesis makes up: trees of actions, verdicts, columns of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from actiondbg.bisection.verdict import Verdict


def depths(min_size: int = 1, max_size: int = 60) -> SearchStrategy[list[int]]:
    """Make the depths of actions, in the order of their begin."""

    def nest(choices: list[int]) -> list[int]:
        made = [0]
        for choice in choices:
            made.append(choice % (made[-1] + 2))
        return made

    choices = st.integers(0, 1 << 16)
    return st.lists(choices, min_size=min_size - 1, max_size=max_size - 1).map(nest)


def verdicts(max_count: int) -> SearchStrategy[list[Verdict]]:
    """Make the verdict of each prefix: the empty one is good, and that of all actions bad."""
    kinds: list[Verdict] = ["good", "bad", "untestable"]

    def bounded(inner: list[Verdict]) -> list[Verdict]:
        return ["good", *inner, "bad"]

    # Few kinds in one list, too: with all of them each third prefix would be untestable.
    some = st.lists(st.sampled_from(kinds), min_size=1, unique=True)
    return some.flatmap(
        lambda chosen: st.lists(st.sampled_from(chosen), max_size=max_count - 1)
    ).map(bounded)


def columns(max_size: int = 200) -> SearchStrategy[npt.NDArray[np.float64]]:
    """Make columns of many kinds: all different, many equal ones, constant, large."""
    sizes: dict[str, Any] = {"min_size": 1, "max_size": max_size}
    kinds: list[SearchStrategy[list[int]]] = [
        st.lists(st.integers(0, 1 << 40), unique=True, **sizes),
        st.lists(st.integers(0, 3), **sizes),
        st.lists(st.sampled_from([0, 1 << 52]), **sizes),
        st.lists(st.just(7), **sizes),
        st.lists(st.integers(0, 40).flatmap(lambda power: st.integers(0, 1 << power)), **sizes),
    ]
    return st.one_of(kinds).map(lambda values: np.array(values, dtype=np.float64))
