"""OUTCOME: the outcomes of an action after which a breakpoint stops.

One or more, separated by commas, any of which suffices: ``succeeded``, ``failed``, ``changed``,
``unchanged``, ``skipped``, and ``reason:GLOB`` for the reasons of a failure. ``succeeded`` includes
unchanged actions, and ``changed`` every action that changed the IR, with any result.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import get_args

from actiondbg.errors import UsageError
from actiondbg.protocol import OutcomeFilter
from actiondbg.protocol.types import ResultFilter
from actiondbg.support.globs import check_glob

_RESULTS: dict[str, ResultFilter] = {word: word for word in get_args(ResultFilter)}
_REASON = "reason:"


def parse_outcome(text: str) -> OutcomeFilter:
    """Parse an OUTCOME.

    Args:
        text: as in the module's description. A comma in a glob belongs to it, unless the name of
            an outcome follows.

    Returns:
        The filter for the agent.

    Raises:
        UsageError: a syntax error, with its position.
    """
    words, reason = split_outcome(text, _RESULTS)
    return OutcomeFilter([_RESULTS[word] for word in words], reason)


def split_outcome(text: str, results: Collection[str]) -> tuple[list[str], str | None]:
    """Split an OUTCOME; raises UsageError with the position of an error.

    Args:
        results: the valid words beside reason:GLOB.

    Returns:
        The words, and the glob of the reason or None.
    """
    words: list[str] = []
    reason: str | None = None
    offset = 0
    for part in text.split(","):
        word = part.strip()
        if word in results:
            words.append(word)
        elif reason is not None and not word.startswith(_REASON):
            reason += f",{part.rstrip()}"
        else:
            at = offset + len(part) - len(part.lstrip())
            _check(word, results, reason, text, at)
            reason = _reason(word, text, at)
        offset += len(part) + 1
    if reason is not None:
        check_glob(reason, text, text.index(_REASON) + len(_REASON))
    return words, reason


def _check(word: str, results: Collection[str], before: str | None, text: str, at: int) -> None:
    """Refuse an unknown outcome, or a second reason."""
    if not word.startswith(_REASON):
        raise UsageError(
            f"There is no outcome {word!r}: take {', '.join(results)} or reason:GLOB.", text, at
        )
    if before is not None:
        raise UsageError("Only one reason can be given: join them in one glob.", text, at)


def _reason(word: str, text: str, at: int) -> str:
    glob = word[len(_REASON) :].strip('"')
    if not glob:
        raise UsageError("Nothing follows reason: give a glob, or * for any.", text, at)
    return glob
