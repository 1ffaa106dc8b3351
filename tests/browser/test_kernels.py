"""The page of kernels in a real browser: it sorts, and the points lead to their rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from actiondbg.kernels.results.entry import entries_of, entry_of
from actiondbg.kernels.results.page import to_html
from tests.fakes.chromium import Browser, find_chromium
from tests.fakes.kernels.rows import FAST, ROWS


@pytest.fixture
def page(tmp_path: Path) -> Iterator[Browser]:
    """A page of five dispatches; at the end there must have been no complaint."""
    program = find_chromium()
    if program is None:
        pytest.skip("chromium is not installed (scripts/install-debian-mlir)")
    file = tmp_path / "page.html"
    slow = replace(entry_of(FAST), dispatch="slow", seconds=(1.0,))
    file.write_text(to_html([*entries_of(ROWS), slow]))
    with Browser(program) as browser:
        browser.open(file)
        yield browser
        assert browser.errors == []


def _sorted_by(page: Browser, title: str) -> list[str]:
    """Click a column's title; return that column."""
    return page.run(
        f"""(() => {{
          const heads = [...document.querySelectorAll(".kernels thead th")];
          const head = heads.find((one) => one.textContent === {title!r});
          head.querySelector("button").click();
          return [...document.querySelectorAll(".kernels tbody tr")]
            .map((row) => row.cells[heads.indexOf(head)].textContent);
        }})()"""
    )


def test_a_click_sorts_numbers_by_value_and_empty_cells_last(page: Browser) -> None:
    assert _sorted_by(page, "ms") == ["1000", "4.000", "0.001000", "", ""]
    assert _sorted_by(page, "ms") == ["0.001000", "4.000", "1000", "", ""]


def test_a_click_sorts_text(page: Browser) -> None:
    column = _sorted_by(page, "verified")
    assert column == ["FAILED", "NOT COMPILED", "Not verified", "SUCCESS", "SUCCESS"]


def test_a_point_leads_to_its_row(page: Browser) -> None:
    page.run("document.querySelectorAll('svg.plot a')[1].dispatchEvent(new MouseEvent('click'))")
    shown = page.run("document.querySelector('tr:target code').textContent")
    assert shown == "slow"
