"""The table in docs/tools.md is what doctor finds in the compilers.

scripts/draw_tools_table.py writes it anew.
"""

from __future__ import annotations

import pytest

from actiondbg.protocol.capabilities import CAPABILITIES
from tests.tool.targets.table import COLUMNS, columns_of, kept, measured
from tests.tool.targets.targets import TARGETS

KEPT = dict(zip(COLUMNS, columns_of(kept()), strict=True))


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=TARGETS[name].marks) for name in COLUMNS]
)
def test_a_column(name: str) -> None:
    (column,) = columns_of(measured([name]))
    assert column == KEPT[name]


def test_the_columns_are_all_compilers_by_all_capabilities() -> None:
    assert KEPT.keys() == TARGETS.keys()
    for column in KEPT.values():
        assert column.missing.keys() == CAPABILITIES.keys()
