"""Which candidates to try, one scheme after the other, until the run that skips them is good."""

from __future__ import annotations

from collections.abc import Iterator

from actiondbg.bisection.candidates import Record, Scheme
from actiondbg.bisection.verdict import Verdict

_ONLY_ACTIONS = "only patterns and folds outside of conversions are candidates"
_REQUIRED = 4  # passes that are found out, one by one, to have to run


class Ladder:
    """The schemes, from the finest to the coarsest.

    The patterns of a conversion cannot be skipped one by one: what they leave over is illegal. So
    passes that convert are taken as a whole; then they have to run; then all passes are taken as a
    whole, as some do more than their patterns; at last all but the conversions are.

    Args:
        record: of the run with all applied.
        arguments: of the passes that may be candidates.
    """

    def __init__(self, record: Record, arguments: set[str]) -> None:
        self._arguments = arguments
        self._everything = set(record.arguments())
        self._leaves = leaves = record.with_leaves()
        self._conversions = conversions = record.with_conversion()
        leafless = arguments - leaves
        self._schemes = [
            _scheme(leafless | (conversions & arguments), conversions),
            _scheme(
                leafless - conversions,
                conversions,
                "the passes that convert have to run, and nothing in them is a candidate",
            ),
            _scheme(set(), conversions, _ONLY_ACTIONS),
            _scheme(arguments, leaves, "passes are candidates as a whole"),
            _scheme(
                arguments - conversions,
                leaves,
                "the passes that convert have to run, and the others are candidates as a whole",
            ),
        ]
        self._tried: set[tuple[frozenset[str], frozenset[str]]] = set()
        self._required = 0

    def schemes(self) -> Iterator[Scheme]:
        """Yield them, until the caller has one whose start is good; see ``failed``."""
        while self._schemes:
            scheme = self._schemes.pop(0)
            if (scheme.passes, scheme.held) not in self._tried:
                self._tried.add((scheme.passes, scheme.held))
                yield scheme

    def failed(self, scheme: Scheme, verdict: Verdict, argument: str | None) -> None:
        """Tell how the start of a scheme was judged.

        Args:
            scheme: the newest.
            verdict: untestable or bad.
            argument: of the pass in which the tool failed, if it is known.
        """
        if verdict == "bad":  # with fewer candidates it would be bad as well
            self._schemes = [one for one in self._schemes if one.words != _ONLY_ACTIONS]
        if verdict == "untestable" and argument is not None and self._required < _REQUIRED:
            self._required += 1
            self._schemes.insert(0, scheme.requiring(argument))

    def groups(self) -> list[str]:
        """Return the passes that are left out together, or what is in them: lowerings last.

        Of two passes that can do without each other, but not without both, the one that comes
        first can be left out: it had better be the one that optimizes.
        """
        free = self._everything & (self._arguments | (self._leaves - self._conversions))
        return sorted(free, key=lambda one: (one in self._conversions, one))

    def leaving_out(self, groups: set[str]) -> Scheme:
        """Return the scheme in which only these passes, or what is in them, are candidates."""
        opened = groups & (self._leaves - self._conversions)
        return _scheme(groups - opened, self._everything - opened)

    def require(self, required: set[str], idle: set[str]) -> None:
        """Tell which passes have to run, though the tool does not fail without them.

        Args:
            required: the output cannot be judged without them.
            idle: they have changed nothing, but might do what another one does that is left out.
        """
        if not required:
            return
        words = f"the passes {', '.join(sorted(required))} have to run"
        run = required | idle
        whole = (self._arguments - self._leaves) | (self._conversions & self._arguments)
        self._schemes[:0] = [
            _scheme(whole - run, self._conversions | run, words),
            _scheme(
                self._arguments - run,
                self._leaves | run,
                f"{words}, and the others are candidates as a whole",
            ),
        ]


def _scheme(passes: set[str], held: set[str], words: str = "") -> Scheme:
    return Scheme(frozenset(passes), frozenset(held), words)
