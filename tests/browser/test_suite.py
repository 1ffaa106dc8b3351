"""The page of a coverage in a real browser: it sorts, filters and selects a command."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from actiondbg.commands.render.suite import KINDS, coverage_page
from actiondbg.suite.coverage import Coverage, CoverageEntry, CoverageExample
from tests.fakes.chromium import Browser, find_chromium

NASTY = "</script><b>'\"&"
ENTRIES = [
    CoverageEntry(
        kind="pattern",
        name="FoldOne",
        full_name="{anonymous}::FoldOne",
        state="applied",
        dialect="arith",
        root="arith.addi",
        benefit=1,
        applied=2,
        tried=10,
        tests=1,
        file="lib/Arith.cpp",
        line=7,
        examples=[CoverageExample("a.mlir:1", f"cd /w && tool '{NASTY}'")],
    ),
    CoverageEntry(kind="pattern", name="FoldTwo", full_name="FoldTwo", state="tried", tried=9),
    CoverageEntry(kind="pattern", name=NASTY, full_name=NASTY, state="never", dialect="scf"),
    CoverageEntry(kind="pass", name="cse", full_name="CSE", state="applied", applied=1, tried=100),
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    program = find_chromium()
    if program is None:
        pytest.skip("chromium is not installed (scripts/install-debian-mlir)")
    with Browser(program) as browser:
        yield browser


@pytest.fixture
def page(browser: Browser, tmp_path: Path) -> Iterator[Browser]:
    """The page, opened; at the end there must have been no complaint."""
    file = tmp_path / "coverage.html"
    file.write_text(coverage_page(Coverage(ENTRIES, 3, 2, 0), KINDS, [], "a suite"))
    browser.errors.clear()
    browser.open(file)
    yield browser
    assert browser.errors == []


def names(page: Browser) -> list[str]:
    """The names in the visible rows, from top to bottom."""
    return page.run(
        "[...document.querySelectorAll('.entries tbody tr')].filter((row) => !row.hidden)"
        ".map((row) => row.cells[3].textContent)"
    )


def test_sorting_and_filtering(page: Browser) -> None:
    assert sorted(names(page)) == sorted(entry.name for entry in ENTRIES)
    heads = "[...document.querySelectorAll('.entries th button')]"
    page.run(f"{heads}.find((head) => head.textContent === 'tried').click()")
    assert names(page)[:3] == ["cse", "FoldOne", "FoldTwo"], "the largest number first"
    page.run(f"{heads}.find((head) => head.textContent === 'tried').click()")
    assert names(page)[-1] == "cse"
    page.run("document.querySelector('form').text.value = 'addi fold'")
    page.run("document.querySelector('form').dispatchEvent(new Event('input'))")
    assert names(page) == ["FoldOne"]
    assert page.run("document.querySelector('#shown').textContent") == "1 of 4"


def test_dialects_and_commands(page: Browser) -> None:
    page.run("document.querySelector('.groups button[data-dialect=scf][data-state=never]').click()")
    assert names(page) == [NASTY]
    page.run("document.querySelector('.groups button[data-file=\"lib/Arith.cpp\"]').click()")
    assert names(page) == ["FoldOne"]
    page.run("document.querySelector('form').reset()")
    page.run("document.querySelector('form').dispatchEvent(new Event('input'))")
    page.run("document.querySelector('.entries details').open = true")
    page.run("document.querySelector('.copy').click()")
    assert page.run("getSelection().toString()") == f"cd /w && tool '{NASTY}'"
