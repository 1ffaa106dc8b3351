"""Functions to put in the place of others."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

Value = TypeVar("Value")


def returning(value: Value) -> Callable[..., Value]:
    """Make a function that takes anything and returns a value."""

    def function(*_: object, **__: object) -> Value:
        return value

    return function
