"""The text of supported events; a module of its own, as it needs no optional package."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from actiondbg.statistics.event_probe import ProbeResult


def event_lines(tried: Iterable[ProbeResult], why: dict[int, str]) -> str:
    """Return one line for each event that was tried.

    Args:
        tried: the probed events.
        why: the reason for each errno.
    """
    rows = [(one.asked.name, one.asked.kind, _tried_words(one, why)) for one in tried]
    return "\n".join(f"{name:<24}  {kind:<8}  {words}" for name, kind, words in rows)


def _tried_words(tried: ProbeResult, why: dict[int, str]) -> str:
    if tried.counted is None:
        return f"no: {why[tried.refusal]}"
    if tried.refusal:
        return f"yes, outside the kernel only: {why[tried.refusal]}"
    return "yes"
