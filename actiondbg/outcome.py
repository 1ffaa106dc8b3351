"""OUTCOME: after which outcomes of an action a breakpoint stops.

``failed``, or several joined with commas, any of which suffices: ``succeeded``, ``failed``,
``changed``, ``unchanged``, ``skipped``, and ``reason:GLOB``, which is matched with the reasons of a
failure. ``succeeded`` holds for unchanged ones too, ``changed`` for every action that changed the
IR, whatever it returned.
"""

from __future__ import annotations

from typing import get_args

from actiondbg.errors import UsageError
from actiondbg.globs import check_glob
from actiondbg.protocol import OutcomeFilter
from actiondbg.wire import ResultFilter

_RESULTS: dict[str, ResultFilter] = {word: word for word in get_args(ResultFilter)}
_REASON = "reason:"


def parse_outcome(text: str) -> OutcomeFilter:
    """Parse an OUTCOME.

    Args:
        text: as in the module's description. A comma belongs to the glob unless a word for an
            outcome follows it.

    Returns:
        What the agent stops after.

    Raises:
        UsageError: with the position of what was wrong.
    """
    outcome = OutcomeFilter()
    offset = 0
    for part in text.split(","):
        word = part.strip()
        if word in _RESULTS:
            outcome.results.append(_RESULTS[word])
        elif outcome.reason is not None and not word.startswith(_REASON):
            outcome.reason += f",{part.rstrip()}"
        else:
            outcome.reason = _reason(word, text, offset + len(part) - len(part.lstrip()), outcome)
        offset += len(part) + 1
    if outcome.reason is not None:
        check_glob(outcome.reason, text, text.index(_REASON) + len(_REASON))
    return outcome


def _reason(word: str, text: str, offset: int, before: OutcomeFilter) -> str:
    if not word.startswith(_REASON):
        raise UsageError(
            f"There is no outcome {word!r}: take succeeded, failed, changed, unchanged, skipped "
            "or reason:GLOB.",
            text,
            offset,
        )
    if before.reason is not None:
        raise UsageError("Only one reason can be given: join them in one glob.", text, offset)
    glob = word[len(_REASON) :].strip('"')
    if not glob:
        raise UsageError("Nothing follows reason: give a glob, or * for any.", text, offset)
    return glob
