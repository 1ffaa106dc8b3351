"""Two runs compared: what differs in each function at the end, and which action began it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal, NamedTuple

from actiondbg.comparison.changing_actions import (
    ChangingAction,
    RunFunction,
    changing_actions,
    is_same,
    text_after,
    whole_text,
)
from actiondbg.comparison.side import Side
from actiondbg.support.alignment import Alignment

# How the IR of a function at the end of a run is like that of the other run.
FinalIR = Literal["same", "other", "only in A", "only in B", "unknown"]
# How the actions that changed it are.
Actions = Literal["same", "reordered", "other"]

_MOST_MEETINGS = 50  # places at which the runs may meet again, whose IR is compared


class FirstDifference(NamedTuple):
    """Where two runs part."""

    a: list[ChangingAction]  # the actions of run A, up to the next action that both runs have
    b: list[ChangingAction]  # the actions of run B, likewise
    # Whether ``a`` and ``b`` are the same action each, with another result.
    has_same_actions: bool = False


class Meeting(NamedTuple):
    """The last actions before which two runs had parted, and after which the IR is the same."""

    a: ChangingAction
    b: ChangingAction


@dataclass(frozen=True)
class FunctionComparison:
    """A function of two runs."""

    function: RunFunction  # its module and symbol
    ir: FinalIR  # how its IR at the end of one run is like that at the end of the other
    actions: Actions  # how the actions that changed it are
    first: FirstDifference | None  # where the runs part; None if no recorded action differs
    # Where they meet again; None if they do not, or if no IR after actions is recorded.
    meeting: Meeting | None
    texts: tuple[str | None, str | None]  # its IR at the end of each run; None where there is none
    # Those of the actions of each run that changed the function.
    ordinals: tuple[frozenset[int], frozenset[int]]
    # Those of the actions that the other run lacks.
    own: tuple[frozenset[int], frozenset[int]]

    @property
    def is_equal(self) -> bool:
        """Whether neither the IR nor the actions differ."""
        return self.actions == "same" and self.ir in ("same", "unknown")


@dataclass(frozen=True)
class RunComparison:
    """Two runs."""

    a: Side
    b: Side
    # The functions of both runs: first functions whose IR differs at the end, then functions with
    # other actions, then the rest.
    functions: list[FunctionComparison] = field(default_factory=list[FunctionComparison])

    @property
    def output(self) -> Literal["same", "other", "unknown"]:
        """Whether the IR of all functions at the end, and the exit status, are the same."""
        if self.a.status != self.b.status:
            return "other"
        kinds = {each.ir for each in self.functions}
        if kinds - {"same", "unknown"}:
            return "other"
        if self.has_same_bytes:
            return "same"
        if self.has_only_bytes:
            return "other"
        if self.has_hidden_data:
            return "unknown"
        # A run without any action has made nothing that could be recorded.
        sides = (self.a, self.b)
        is_known = all(side.final_texts is not None or not side.recording.count for side in sides)
        return "same" if is_known and "unknown" not in kinds else "unknown"

    @property
    def has_same_bytes(self) -> bool:
        """Whether both are known to have written the same, and something."""
        return bool(self.a.written) and self.a.written == self.b.written

    @property
    def has_only_bytes(self) -> bool:
        """Whether no action ran, and what they wrote is all that is known of them."""
        sides = (self.a, self.b)
        is_written = None not in (self.a.written, self.b.written) and any(s.written for s in sides)
        return is_written and not any(s.recording.count or s.final_texts for s in sides)

    @cached_property
    def has_hidden_data(self) -> bool:
        """Whether the IR at the end has elided constants or resources, whose data is not in it."""
        texts = (text for each in self.functions for text in each.texts)
        return any(text is not None and "dense_resource<" in text for text in texts)

    @property
    def has_same_actions(self) -> bool:
        """Whether the actions that changed IR are the same."""
        return all(each.actions == "same" for each in self.functions)

    @property
    def first(self) -> FunctionComparison | None:
        """The function whose difference began first, one with other IR at the end before others."""
        parted = [each for each in self.functions if each.first is not None]
        other = [each for each in parted if each.ir not in ("same", "unknown")]
        return min(other or parted, key=_begin, default=None)


def _begin(each: FunctionComparison) -> int:
    assert each.first is not None
    return min(action.ordinal for action in (*each.first.a[:1], *each.first.b[:1]))


def compare_runs(a: Side, b: Side) -> RunComparison:
    """Compare two runs: of other tools, of other inputs, or with other passes."""
    streams = changing_actions(a.recording), changing_actions(b.recording)
    finals = a.final_texts, b.final_texts
    names = dict.fromkeys((*streams[0], *streams[1], *(finals[0] or ()), *(finals[1] or ())))
    found: list[FunctionComparison] = []
    for function in names:
        own = [stream.get(function, []) for stream in streams]
        places = [(every or {}).get(function, {}) for every in finals]
        final = [whole_text(each) if each else None for each in places]
        ir = _final_ir(final[0], final[1], None not in finals)
        # A recorded text does not say in which of several modules its function is.
        is_one = None not in finals and all(len(each) < 2 for each in places)
        compared = _Streams(a, b, own[0], own[1], is_one)
        first = compared.first(is_other=ir == "other")
        found.append(
            FunctionComparison(
                function,
                ir,
                compared.actions,
                first,
                compared.meeting() if first is not None else None,
                (final[0], final[1]),
                _ordinals(own[0], own[1]),
                compared.own(),
            )
        )
    found = [_with_outside(each, found) for each in found]
    found.sort(key=lambda each: (each.ir in ("same", "unknown"), each.actions == "same"))
    return RunComparison(a, b, found)


def _with_outside(each: FunctionComparison, others: list[FunctionComparison]) -> FunctionComparison:
    """Return a function whose difference no action of its own began with one outside of functions.

    A pass on the module that tells nobody what it changes is no action of a function.
    """
    if each.first is not None or each.ir != "other":
        return each
    outside = RunFunction(each.function.module, "")
    found = (other.first for other in others if other.function == outside)
    return replace(each, first=next(found, None))


def _final_ir(one: str | None, other: str | None, is_known: bool) -> FinalIR:
    if not is_known:
        return "unknown"
    if one is None or other is None:
        return "same" if one == other else "only in A" if other is None else "only in B"
    return "same" if is_same(one, other) else "other"


def _ordinals(
    a: Iterable[ChangingAction], b: Iterable[ChangingAction]
) -> tuple[frozenset[int], frozenset[int]]:
    return frozenset(each.ordinal for each in a), frozenset(each.ordinal for each in b)


def _shift(a: Sequence[ChangingAction], b: Sequence[ChangingAction]) -> int:
    """Return how many lines later a function begins in the second run.

    The function may be at another place of the input. Where an input is split, some versions of
    MLIR count lines from the begin of the input, and others from the begin of the part.
    """
    same = Alignment([each.what for each in a], [each.what for each in b]).pairs()
    pairs = ((a[i], b[j]) for i, j in same)
    shifts = Counter(two.line - one.line for one, two in pairs if one.line and two.line)
    return shifts.most_common(1)[0][0] if shifts else 0


class _Streams:
    """The changing actions of a function in two runs.

    Args:
        one: run A.
        other: run B.
        a: its actions in run A.
        b: those in run B.
        has_texts: whether a text of that name after an action is that of the function.
    """

    def __init__(
        self,
        one: Side,
        other: Side,
        a: Sequence[ChangingAction],
        b: Sequence[ChangingAction],
        has_texts: bool,
    ) -> None:
        self._recordings = one.recording, other.recording
        self._has_texts = has_texts
        self._a, self._b = a, b
        shift = _shift(a, b)
        keys = [each.key() for each in a], [each.key(shift) for each in b]
        self._same_keys = keys[0] == keys[1]
        self._codes = Alignment(keys[0], keys[1]).get_opcodes()
        self._parting = (0, 0)

    @property
    def actions(self) -> Actions:
        """How the actions of both are alike."""
        if self._same_keys:
            return "same"
        done = [Counter(each.what for each in side) for side in (self._a, self._b)]
        return "reordered" if done[0] == done[1] else "other"

    def own(self) -> tuple[frozenset[int], frozenset[int]]:
        """Return the ordinals of the actions of each that the other one lacks."""
        codes = [code for code in self._codes if code[0] != "equal"]
        return _ordinals(
            (each for code in codes for each in self._a[code[1] : code[2]]),
            (each for code in codes for each in self._b[code[3] : code[4]]),
        )

    def first(self, is_other: bool) -> FirstDifference | None:
        """Return where the runs part, by their actions or by the IR after the same actions.

        Args:
            is_other: whether the IR at the end differs: then it is the last parting, after which
                the runs do not meet again, as far as IR is recorded.
        """
        begin = self._last_same() if is_other else (0, 0)
        codes = [code for code in self._codes if code[2] > begin[0] or code[4] > begin[1]]
        found = next((code for code in codes if code[0] != "equal"), None)
        # The same actions before it may have another result already.
        before = codes[: codes.index(found)] if found else codes if is_other else []
        for code in before:
            earlier = self._parting_texts(*code[1:])
            if earlier is not None:
                i, j = earlier
                self._parting = (i + 1, j + 1)
                return FirstDifference([self._a[i]], [self._b[j]], has_same_actions=True)
        if found is None:
            return None
        _, i1, i2, j1, j2 = found
        self._parting = (i1, j1)
        return FirstDifference(list(self._a[i1:i2]), list(self._b[j1:j2]))

    def _parting_texts(self, i1: int, i2: int, j1: int, j2: int) -> tuple[int, int] | None:
        """Return the first of the actions that both have in a row after which the IR differs."""
        if self._is_same_after(i2 - 1, j2 - 1) is not False:
            return None
        first, last = -1, i2 - i1 - 1  # the IR is the same after first, and differs after last
        while last - first > 1:
            middle = (first + last) // 2
            if self._is_same_after(i1 + middle, j1 + middle) is False:
                last = middle
            else:
                first = middle
        return i1 + last, j1 + last

    def _last_same(self) -> tuple[int, int]:
        """Return the number of actions after which the IR is the same for the last time."""
        for i, j in reversed(self._meetings()[-_MOST_MEETINGS:]):
            if self._is_same_after(i - 1, j - 1):
                return i, j
        return 0, 0

    def meeting(self) -> Meeting | None:
        """Return where the IR is the same again, behind the parting."""
        for i, j in self._meetings()[:_MOST_MEETINGS]:
            is_behind = i >= self._parting[0] and j >= self._parting[1]
            if is_behind and self._is_same_after(i - 1, j - 1):
                return Meeting(self._a[i - 1], self._b[j - 1])
        return None

    def _meetings(self) -> list[tuple[int, int]]:
        """Return the numbers of actions up to places where both may have the same IR."""
        places = [(i1, j1) for tag, i1, _, j1, _ in self._codes if tag == "equal"]
        return [(i, j) for i, j in (*places, (len(self._a), len(self._b))) if i and j]

    def _is_same_after(self, i: int, j: int) -> bool | None:
        """Whether the IR is the same after two actions; None if it is not recorded."""
        if not self._has_texts:
            return None
        one, other = (
            text_after(recording, action.ordinal, action.function.symbol)
            for recording, action in zip(self._recordings, (self._a[i], self._b[j]), strict=True)
        )
        return None if one is None or other is None else is_same(one, other)
