"""The table of tools by capabilities in docs/tools.md, and the same from runs of doctor."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass

from tests.paths import COMMAND, ROOT
from tests.tool.targets.targets import TARGETS

PAGE = ROOT / "docs" / "tools.md"
BEGIN, END = "<!-- The table of doctor begins. -->\n", "<!-- The table of doctor ends. -->\n"
# The program that doctor examines, of each compiler in the order of the columns.
COLUMNS = {
    "mlir-opt": "mlir-opt",
    "debian19": "mlir-opt",
    "iree": "iree-opt",
    "torch-mlir": "torch-mlir-opt",
    "catalyst": "catalyst",
    "triton": "python",
    "jax": "python",
}


@dataclass(frozen=True)
class Column:
    """The column of a compiler.

    Args:
        facts: the rows above the capabilities, by their names.
        missing: by the name of a capability, None or why the compiler lacks it.
    """

    facts: dict[str, str]
    missing: dict[str, str | None]


def measured(names: Iterable[str]) -> str:
    """Return the table of some compilers, from runs of them."""
    programs = [str(TARGETS[name].programs[COLUMNS[name]]) for name in names]
    words = [COMMAND, "doctor", "--markdown", *programs]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def kept() -> str:
    """Return the table in the page."""
    _, begin, rest = PAGE.read_text().partition(BEGIN)
    table, end, _ = rest.partition(END)
    assert begin and end, f"{PAGE} lacks the comments around the table"
    return table


def write(table: str) -> None:
    """Replace the table in the page."""
    PAGE.write_text(PAGE.read_text().replace(f"{BEGIN}{kept()}", f"{BEGIN}\n{table}\n"))


def columns_of(table: str) -> list[Column]:
    """Return the columns of a table."""
    notes = dict(re.findall(r"^\[\^(\d+)\]: The agent lacks [^:]*: (.*)\.$", table, re.MULTILINE))
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in table.splitlines()
        if line.startswith("|")
    ]
    names, _, *rest = rows
    columns = [Column({"name": name}, {}) for name in names[1:]]
    for title, *cells in rest:
        for column, cell in zip(columns, cells, strict=True):
            capability = re.match(r"`([a-z-]+)`: ", title)
            if capability is None:
                column.facts[title] = cell
            else:
                note = re.fullmatch(r"—\[\^(\d+)\]", cell)
                assert note or cell == "yes", f"{title} has a cell {cell!r}"
                column.missing[capability[1]] = notes[note[1]] if note else None
    return columns
