"""The pages of a lineage in a real browser: flows that move, a matrix that is searched."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("duckdb")

from actiondbg.lineage.pictures.matrix_page import matrix_page
from actiondbg.lineage.pictures.sankey import flows_title, sankey_page
from actiondbg.lineage.pictures.tracking_picture import picture, picture_page
from actiondbg.lineage.questions.flows import flows
from actiondbg.lineage.questions.matrix import matrix, unexplained
from tests.fakes.chromium import Browser, find_chromium
from tests.fakes.lineage.lineage import convolutions


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    program = find_chromium()
    if program is None:
        pytest.skip("chromium is not installed (scripts/install-debian-mlir)")
    with Browser(program) as browser:
        yield browser


def opened(browser: Browser, path: Path, text: str) -> None:
    path.write_text(text)
    browser.errors.clear()
    browser.resize(width=1300)
    browser.open(path)


def test_flows_fade_under_the_pointer_and_kinds_move(browser: Browser, tmp_path: Path) -> None:
    found = flows(convolutions(3, 4, 1), "tosa.conv2d", after=["decompose"])
    opened(browser, tmp_path / "s.html", sankey_page(found, flows_title(found)))
    assert browser.run("document.getElementById('sankey').dataset.drawn") == "yes"
    texts = browser.run("[...document.querySelectorAll('#sankey text')].map(t => t.textContent)")
    assert {"tosa.conv2d 8", "tosa.matmul 3", "linalg.matmul 3", "folded 1"} <= set(texts)
    browser.run(
        """[...document.querySelectorAll('#sankey .node')]
          .find((node) => node.textContent.startsWith('tosa.matmul'))
          .dispatchEvent(new PointerEvent('pointerenter'))"""
    )
    faded = "document.querySelectorAll('#sankey path.faded').length"
    assert browser.run(faded) == len(found.flows) - 2
    before = browser.run("document.querySelector('#sankey path').getAttribute('d')")
    browser.run(
        """(() => {
          const node = document.querySelector('#sankey .node');
          node.setPointerCapture = () => {};
          node.dispatchEvent(new PointerEvent('pointerdown', { clientY: 10 }));
          node.dispatchEvent(new PointerEvent('pointermove', { clientY: 35 }));
          node.dispatchEvent(new PointerEvent('pointerup', { clientY: 35 }));
          node.dispatchEvent(new PointerEvent('pointerleave'));
        })()"""
    )
    moved = browser.run("document.querySelector('#sankey .node').getAttribute('transform')")
    assert moved == "translate(0 25)"
    assert browser.run("document.querySelector('#sankey path').getAttribute('d')") != before
    assert browser.run(faded) == 0
    assert browser.errors == []


def test_the_matrix_is_searched_and_turned_over(browser: Browser, tmp_path: Path) -> None:
    found = matrix(convolutions(60, 40, 5))
    opened(browser, tmp_path / "m.html", matrix_page(found, unexplained(found)))
    assert browser.run("document.documentElement.dataset.ready") == "yes"
    rows = "document.querySelectorAll('#inputs tbody tr').length"
    shown = "document.querySelector('#inputs .quiet').textContent"
    assert (browser.run(rows), browser.run(shown)) == (50, "50 of 107 rows")
    first = "document.querySelector('#inputs tbody td').textContent"
    lines = browser.run(first), browser.run("document.querySelector('#inputs th button').click()")
    assert int(browser.run(first)) > int(lines[0])
    browser.run("[...document.querySelectorAll('#inputs .more button')].at(-1).click()")
    assert (browser.run(rows), browser.run(shown)) == (107, "107 rows")
    browser.run(
        """(() => {
          const filter = document.querySelector('#inputs input');
          filter.value = 'lost folded';
          filter.dispatchEvent(new Event('input'));
        })()"""
    )
    assert (browser.run(rows), browser.run(shown)) == (5, "5 rows")
    reason = "document.querySelector('#inputs .reason').textContent"
    assert browser.run(reason) == "folded by #2 pattern:FoldConv"
    browser.run("document.querySelector('#units tbody tr:last-child button').click()")
    assert browser.run(shown) == "50 of 101 rows"
    assert browser.errors == []


def test_the_picture_is_shown_without_scripts(browser: Browser, tmp_path: Path) -> None:
    lineage = convolutions(2, 2, 1)
    operations = lineage.stages[0].named("tosa.conv2d")
    drawn = picture(lineage, operations, lineage.track(operations, lineage.stages[-1]))
    opened(browser, tmp_path / "p.html", picture_page(drawn))
    assert browser.run("document.querySelectorAll('svg rect').length") == len(drawn.boxes)
    assert browser.run("document.querySelectorAll('script').length") == 0
    assert browser.errors == []
