"""The table of tools by capabilities, in Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from actiondbg.doctor.examination import Examined
from actiondbg.protocol.capabilities import CAPABILITIES


def markdown_table(examined: Sequence[Examined]) -> str:
    """Return a table with a column for each tool and a row for each capability."""
    return "\n".join(f"| {' | '.join(row)} |" for row in _rows(examined))


def _rows(examined: Sequence[Examined]) -> Iterator[list[str]]:
    yield ["capability", *(f"`{each.name}`" for each in examined)]
    yield ["---"] * (len(examined) + 1)
    yield ["LLVM", *(each.llvm or "unknown" for each in examined)]
    yield ["agent", *(str(each.way or "none") for each in examined)]
    for name, capability in CAPABILITIES.items():
        yield [f"`{name}`: {capability.verb}", *(_cell(each, name) for each in examined)]


def _cell(each: Examined, name: str) -> str:
    if each.capabilities is None:
        return "no" if each.way is None else "unknown"
    return "yes" if name in each.capabilities else "no"
