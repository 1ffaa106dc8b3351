"""Results of the benchmarks: docs/performance.json, and the table of docs/performance.md."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parents[2] / "docs"
STORED, PAGE = DOCS / "performance.json", DOCS / "performance.md"
_BEGIN, _END = "<!-- Made by scripts/bench --table -->\n", "<!-- end of the table -->\n"
_NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")


def numbers(text: str) -> list[float]:
    """Return the numbers in a text, in their order."""
    return [float(one.replace(",", "")) for one in _NUMBER.findall(text)]


def misses(figure: str, bar: str) -> bool:
    """Whether a figure is beyond its bar: above it, or below "at least" it; "" is no bar.

    Args:
        figure: one number, or several, each of which is compared.
        bar: such as "1.05", "at least 2" or "200 MB".
    """
    if not bar:
        return False
    (limit,) = numbers(bar)
    if bar.startswith("at least"):
        return min(numbers(figure)) < limit
    return max(numbers(figure)) > limit


@dataclass
class Row:
    """One measurement, and its figures in all stored runs.

    Args:
        name: of the newest run; it may have numbers that differ between runs.
        bar: as ``misses`` takes it.
        figures: the oldest first.
    """

    name: str
    bar: str
    figures: list[str] = field(default_factory=list[str])

    @property
    def key(self) -> str:
        """The name without its numbers."""
        return _NUMBER.sub("#", self.name)

    @property
    def range(self) -> str:
        """The figures of all runs: from the least to the largest."""
        ordered = sorted(dict.fromkeys(self.figures), key=numbers)
        return ordered[0] if len(ordered) == 1 else f"{ordered[0]} to {ordered[-1]}"

    @property
    def is_missed(self) -> bool:
        """Whether a figure is beyond the bar."""
        return any(misses(one, self.bar) for one in self.figures)


class StoredResults:
    """The file of the results, one list of rows for each group of benchmarks.

    Args:
        path: of the file; it may be missing.
    """

    def __init__(self, path: Path = STORED) -> None:
        self._path = path
        content: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
        self.machine: str = content.get("machine", "")
        self.groups: dict[str, list[Row]] = {
            group: [Row(**one) for one in rows] for group, rows in content.get("groups", {}).items()
        }

    def add(self, group: str, rows: Iterable[tuple[str, str, str]], machine: str) -> None:
        """Add the rows of a run: name, figure, bar. Rows that the group lacks now are removed."""
        old = self.groups.get(group, [])
        found: list[Row] = []
        for name, figure, bar in rows:
            row = Row(name, bar, [figure])
            # Several rows may differ in their numbers alone: they keep their order.
            before = next((one for one in old if one.key == row.key), None)
            if before is not None:
                old.remove(before)
                row.figures[:0] = before.figures
            found.append(row)
        self.groups[group] = found
        self.machine = machine

    def save(self) -> None:
        groups = {group: [asdict(row) for row in rows] for group, rows in self.groups.items()}
        text = json.dumps({"machine": self.machine, "groups": groups}, indent=1)
        self._path.write_text(f"{text}\n")

    def table(self) -> str:
        """Return the table of docs/performance.md."""
        lines = [f"| measured ({self.machine}) | figure | bar |", "|---|---|---|"]
        for rows in self.groups.values():
            for row in rows:
                figure = f"**{row.range}**" if row.is_missed else row.range
                lines.append(f"| {row.name} | {figure} | {row.bar} |")
        return "".join(f"{line}\n" for line in lines)


def with_table(page: str, table: str) -> str:
    """Return a page with another table between its marks."""
    head, _, rest = page.partition(_BEGIN)
    _, _, tail = rest.partition(_END)
    return f"{head}{_BEGIN}{table}{_END}{tail}"
