"""docs/mcp.md: its tables are those of the server, and its calls get the answers that it shows."""

from __future__ import annotations

import pytest

from tests.tool.mcp.page import PAGE, blocks, comparable, updated

BUILDS = ("pypi",)


@pytest.mark.slow
def test_the_page_is_true(mlir_opt: str) -> None:
    """``scripts/draw_mcp_page.py`` writes it anew."""
    page = PAGE.read_text()
    assert blocks(page)
    assert comparable(updated(page, mlir_opt)) == comparable(page)
