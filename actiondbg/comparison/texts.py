"""The IR of the functions of a run: at its end, and where it was recorded after actions."""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from typing import TYPE_CHECKING

from actiondbg.comparison.actions import ChangingAction, Function
from actiondbg.ir.canonical import canonical, parts, symbol_of

if TYPE_CHECKING:
    from actiondbg.recording.recording import Recording


def final_texts(recording: Recording) -> dict[Function, str] | None:
    """Return the IR of each function after the last action; None if it was not recorded.

    Constants of more than 4,096 elements are elided in it.
    """
    outputs = [stage for stage in recording.stages if stage.kind == "output"]
    if not outputs:
        return None
    found: defaultdict[Function, str] = defaultdict(str)
    for number, stage in enumerate(outputs):
        for part in parts(stage.text):
            found[Function(number, part.symbol)] += part.text
    return dict(found)


def is_same(one: str | None, other: str | None) -> bool:
    """Whether two texts of a function differ in nothing that has a meaning."""
    if one is None or other is None or one == other:
        return one == other
    return _canonical(one) == _canonical(other)


@cache
def _canonical(text: str) -> str:
    return canonical(text)


class RecordedTexts:
    """The IR of functions after actions; nothing without ``record --ir function``."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self.has_texts = recording.header.has_texts

    def after(self, action: ChangingAction) -> str | None:
        """Return the IR of the function of an action after it; None if it was not recorded."""
        return self._text(action, after=True)

    def before(self, action: ChangingAction) -> str | None:
        """Return the IR of the function of an action before it; None if it was not recorded."""
        return self._text(action, after=False)

    def _text(self, action: ChangingAction, after: bool) -> str | None:
        if not self.has_texts:
            return None
        symbol = action.function.symbol
        for snapshot in self._recording.snapshots(action.ordinal):
            text = snapshot.after if after else snapshot.before
            if text is None:
                continue
            if symbol_of(text) == symbol:
                return text
            for part in parts(text):
                if part.symbol == symbol:
                    return part.text
        return None
