"""The traceability matrix as a page, for any number of operations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from actiondbg.lineage.questions.matrix import Matrix, Orphan, reason_counts
from actiondbg.lineage.questions.reasons import reason_text
from actiondbg.lineage.stage import Stage
from actiondbg.support.counts import counted
from actiondbg.support.html_page import TABLES, Html, asset, element, facts, html_page, table

_TITLE = "Traceability matrix"
_LONGEST_LOCATION = 160  # characters of a location
_MOST_REASONS = 40
_LEVELS = {"operation": "operations", "loop": "loop nests", "function": "functions"}


def matrix_page(matrix: Matrix, unexplained: Sequence[Orphan]) -> str:
    """Return the page of a matrix.

    Args:
        matrix: the traceability.
        unexplained: the orphans that are not allowed.
    """
    traced = len(matrix.source) - len(matrix.lost)
    founded = len(matrix.target) - len(matrix.unfounded)
    level = _LEVELS.get(matrix.level, "dispatches")
    return html_page(
        _TITLE,
        element("h1", _TITLE),
        facts(
            [
                (
                    matrix.source.name,
                    f"{counted(len(matrix.source), 'operation')}, {traced:,} traced",
                ),
                (
                    matrix.target.name,
                    f"{counted(len(matrix.target), 'operation')}, {founded:,} with an origin, in "
                    f"{counted(len(matrix.units), 'unit')} ({level})",
                ),
                ("unexplained orphans", f"{len(unexplained):,}"),
            ]
        ),
        *_reasons("Why operations of the input have no trace", matrix.lost),
        *_reasons("Why operations of the output have no origin", matrix.unfounded),
        Html(
            "<noscript><p>The tables below need JavaScript; nothing is loaded from elsewhere."
            "</p></noscript>"
        ),
        *(Html(f'<section id="{name}"></section>') for name in ("inputs", "units", "orphans")),
        style=asset(__spec__.parent, "matrix.css"),
        data=_data(matrix),
        scripts=[asset(*TABLES), asset(__spec__.parent, "matrix.js")],
        maker="lineage",
    )


def _reasons(title: str, orphans: Sequence[Orphan]) -> Iterable[Html]:
    if not orphans:
        return ()
    rows = [
        (reason_text(why), action, count)
        for (why, action), count in reason_counts(orphans).most_common(_MOST_REASONS)
    ]
    return element("h2", title), table(rows, ("reason", "action", "operations"))


def _data(matrix: Matrix) -> dict[str, object]:
    words = _Words()
    lines = [matrix.target.lines[unit] if unit >= 0 else 0 for unit in map(int, matrix.units)]
    return {
        "source": _stage(matrix.source, range(len(matrix.source))),
        "target": _stage(matrix.target, [one.operation.index for one in matrix.unfounded]),
        "units": [label or "outside all units" for label in matrix.labels],
        "unitLines": lines,
        "unitSizes": matrix.unit_sizes.tolist(),
        "cells": [matrix.sources.tolist(), matrix.cell_units.tolist(), matrix.counts.tolist()],
        "exact": matrix.exact.astype(int).tolist(),
        "lost": _orphans(matrix.lost, words),
        "unfounded": _orphans(matrix.unfounded, words),
        "words": words.words,
    }


def _orphans(orphans: Sequence[Orphan], words: _Words) -> list[tuple[int, int, int, int]]:
    """Return for each orphan its index, its reason, the ordinal and the name of the action."""
    return [
        (
            one.operation.index,
            words.code(reason_text(one.reason.why)),
            one.reason.ordinal or 0,
            words.code(one.action),
        )
        for one in orphans
    ]


class _Words:
    """Texts that repeat, as numbers."""

    def __init__(self) -> None:
        self._codes: dict[str, int] = {}

    def code(self, text: str) -> int:
        return self._codes.setdefault(text, len(self._codes))

    @property
    def words(self) -> list[str]:
        return list(self._codes)


def _stage(stage: Stage, indices: Iterable[int]) -> dict[str, object]:
    """Return the columns of some operations; names and locations are numbers of words."""
    names, locations = _Words(), _Words()
    rows = [
        (
            index,
            names.code(stage.names[index]),
            stage.lines[index],
            locations.code(stage.locations[index].text[:_LONGEST_LOCATION]),
        )
        for index in indices
    ]
    columns = [list(column) for column in zip(*rows, strict=True)] or [[], [], [], []]
    return {
        "index": columns[0],
        "name": columns[1],
        "line": columns[2],
        "location": columns[3],
        "names": names.words,
        "locations": locations.words,
    }
