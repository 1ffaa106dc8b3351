"""The table of tools by capabilities, in Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from actiondbg.doctor.examination import Examined
from actiondbg.protocol.capabilities import CAPABILITIES


def markdown_table(examined: Sequence[Examined]) -> str:
    """Return a table with a column for each tool and a row for each capability.

    A missing capability has a footnote with the reason.
    """
    notes: dict[str, list[str]] = {}  # the capabilities that are missing, by reason
    lines = [f"| {' | '.join(row)} |" for row in _rows(examined, notes)]
    problems = {each.problem for each in examined}
    for number, (reason, names) in enumerate(notes.items(), 1):
        lacks = "" if reason in problems else f"The agent lacks {', '.join(names)}: "
        lines += ["", f"[^{number}]: {lacks}{reason.removesuffix('.')}."]
    return "\n".join(lines)


def _rows(examined: Sequence[Examined], notes: dict[str, list[str]]) -> Iterator[list[str]]:
    yield ["capability", *(f"`{each.name}`" for each in examined)]
    yield ["---"] * (len(examined) + 1)
    yield ["LLVM", *(each.llvm or "unknown" for each in examined)]
    for name, capability in CAPABILITIES.items():
        cells = (_cell(each, name, notes) for each in examined)
        yield [f"`{name}`: {capability.verb}", *cells]


def _cell(each: Examined, name: str, notes: dict[str, list[str]]) -> str:
    if each.capabilities is not None and name in each.capabilities:
        return "yes"
    reason = each.missing.get(name, each.problem)
    if reason is None:
        return "unknown"
    names = notes.setdefault(reason, [])
    if f"`{name}`" not in names:
        names.append(f"`{name}`")
    return f"—[^{list(notes).index(reason) + 1}]"
