"""Schemes of candidates: which actions and passes are candidates, and which schemes to try."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from actiondbg.bisection.candidates.record import Record, RecordedAction
from actiondbg.bisection.verdict import Verdict

_ONLY_ACTIONS = "only patterns and folds outside of conversions are candidates"
_FINEST = (
    "patterns and folds are candidates, and so are passes that convert or have none, as a whole"
)
_MOST_REQUIRED = 4  # passes that are required one by one, after the tool failed without them


class Scheme(msgspec.Struct, frozen=True):
    """A choice of candidates.

    Patterns and folds are candidates unless they are in a pass of ``held``.

    Attributes:
        passes: arguments of passes that are candidates as a whole.
        held: arguments of passes whose patterns and folds are no candidates.
        words: describes the scheme, for a note; empty for one that is no start to search from.
    """

    passes: frozenset[str] = frozenset()
    held: frozenset[str] = frozenset()
    words: str = ""

    def requiring(self, argument: str) -> Scheme:
        """Return the scheme in which a pass is no candidate, nor any action in it."""
        return Scheme(
            self.passes - {argument},
            self.held | {argument},
            f"the pass {argument} must run, and nothing in it is a candidate",
        )

    def opening(self, argument: str) -> Scheme:
        """Return the scheme in which the actions in a pass are candidates instead of the pass."""
        return Scheme(self.passes - {argument}, self.held - {argument})


def candidates_of(
    record: Record, scheme: Scheme, allowed: Sequence[RecordedAction]
) -> list[RecordedAction]:
    """Return the candidates of a scheme, by ordinal.

    Args:
        record: of the run that skips nothing.
        allowed: the passes that the user's filter accepts.
    """
    held = [one for one in record.passes if one.argument in scheme.held]
    passes = [one for one in allowed if one.argument in scheme.passes]
    actions: list[RecordedAction] = []
    end = 0  # the end of the held passes so far; they can be nested
    position = 0
    for action in record.actions:
        while position < len(held) and held[position].ordinal < action.ordinal:
            end = max(end, held[position].last)
            position += 1
        if action.ordinal > end:
            actions.append(action)
    return sorted([*actions, *passes], key=lambda one: one.ordinal)


class SchemeQueue:
    """The schemes to try, from the finest to the coarsest.

    The patterns of a conversion cannot be skipped one by one: the IR that they leave is illegal.
    So the first scheme makes passes that convert candidates as a whole, and the next ones require
    them. A pass may do more than its patterns, so later schemes make all passes candidates as a
    whole, and the last one all passes except conversions. They come first if the
    user asks for passes.

    Args:
        record: of the run that skips nothing.
        allowed: arguments of the passes that the user's filter accepts.
        only_passes: whether that filter accepts no pattern and no fold.
    """

    def __init__(self, record: Record, allowed: set[str], only_passes: bool = False) -> None:
        self._allowed = allowed
        passes = [(one.argument or "", one) for one in record.passes]
        self._all = {argument for argument, _ in passes}
        # Passes that tried patterns or folds, and passes that ran a dialect conversion.
        self._with_leaves = with_leaves = {argument for argument, one in passes if one.leaves}
        self._conversions = conversions = {argument for argument, one in passes if one.conversion}
        leafless = allowed - with_leaves
        fine = [
            _scheme(leafless | (conversions & allowed), conversions, _FINEST),
            _scheme(
                leafless - conversions,
                conversions,
                "the passes that convert must run, and nothing in them is a candidate",
            ),
            _scheme(set(), conversions, _ONLY_ACTIONS),
        ]
        coarse = [
            _scheme(allowed, with_leaves, "passes are candidates as a whole"),
            _scheme(
                allowed - conversions,
                with_leaves,
                "the passes that convert must run, and the others are candidates as a whole",
            ),
        ]
        self._schemes = [*coarse, *fine] if only_passes else [*fine, *coarse]
        self._tried: set[tuple[frozenset[str], frozenset[str]]] = set()
        self._required = 0

    def schemes(self) -> Iterator[Scheme]:
        """Yield the schemes; after each one whose start is not good, call ``failed``."""
        while self._schemes:
            scheme = self._schemes.pop(0)
            if (scheme.passes, scheme.held) not in self._tried:
                self._tried.add((scheme.passes, scheme.held))
                yield scheme

    def failed(self, scheme: Scheme, verdict: Verdict, argument: str | None) -> None:
        """Adapt the queue to the verdict on the start of a scheme.

        Args:
            scheme: the newest scheme.
            verdict: untestable or bad.
            argument: of the pass in which the tool failed; None if it is not known.
        """
        if verdict == "bad":  # with fewer candidates the start would be bad as well
            self._schemes = [one for one in self._schemes if one.words != _ONLY_ACTIONS]
        if verdict == "untestable" and argument is not None and self._required < _MOST_REQUIRED:
            self._required += 1
            self._schemes.insert(0, scheme.requiring(argument))

    def removable_passes(self) -> list[str]:
        """Return the passes that may be left out, or whose actions may be; conversions last.

        If the tool needs only one of two passes, the first one of this list is left out: it
        should be an optimization, not a lowering.
        """
        removable = self._all & (self._allowed | (self._with_leaves - self._conversions))
        return sorted(removable, key=lambda one: (one in self._conversions, one))

    def leaving_out(self, arguments: set[str]) -> Scheme:
        """Return the scheme in which only these passes, or the actions in them, are candidates."""
        opened = arguments & (self._with_leaves - self._conversions)
        return _scheme(arguments - opened, self._all - opened)

    def without(self, argument: str) -> Scheme:
        """Return the scheme in which only a pass is a candidate, as a whole."""
        return _scheme({argument}, self._with_leaves)

    def require(self, required: set[str], idle: set[str]) -> None:
        """Try schemes next that require passes, although the tool does not fail without them.

        Args:
            required: passes without which the output is untestable.
            idle: passes that changed nothing; they could do the work of a pass that is left out.
        """
        if not required:
            return
        words = f"the passes {', '.join(sorted(required))} must run"
        run = required | idle
        whole = (self._allowed - self._with_leaves) | (self._conversions & self._allowed)
        self._schemes[:0] = [
            _scheme(whole - run, self._conversions | run, words),
            _scheme(
                self._allowed - run,
                self._with_leaves | run,
                f"{words}, and the others are candidates as a whole",
            ),
        ]


def _scheme(passes: set[str], held: set[str], words: str = "") -> Scheme:
    return Scheme(frozenset(passes), frozenset(held), words)
