"""The text of supported events; a module of its own, as it needs no optional package."""

from __future__ import annotations

from collections.abc import Iterable

from actiondbg.statistics.event_probe import ProbeResult, why_refused


def event_lines(tried: Iterable[ProbeResult]) -> str:
    rows = [(one.asked.name, one.asked.kind, _tried_words(one)) for one in tried]
    return "\n".join(f"{name:<24}  {kind:<8}  {words}" for name, kind, words in rows)


def _tried_words(tried: ProbeResult) -> str:
    if tried.counted is None:
        return f"no: {why_refused(tried.refusal)}"
    if tried.refusal:
        return f"yes, outside the kernel only: {why_refused(tried.refusal)}"
    return "yes"
