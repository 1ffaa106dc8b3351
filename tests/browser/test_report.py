"""The report in a real browser, without a window: it shows, sorts, finds and zooms."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("duckdb")

from actiondbg.recording import open_recording
from actiondbg.recording.imported.importer import import_log
from actiondbg.recording.report import report_page
from tests.fakes.chromium import Browser, find_chromium
from tests.fakes.recording.recordings import Action, Operation, fake_recording, write_recording
from tests.paths import ROOT
from tests.unit.recording.test_report import nasty_recording


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("browser")


def _page(recording: Path, size: float = 5) -> Path:
    page = recording.with_suffix(".html")
    page.write_text(report_page(open_recording(recording), size).html, errors="replace")
    return page


@pytest.fixture(scope="module")
def report(directory: Path) -> Path:
    return _page(fake_recording(directory / "small.adbrec", 3000, 1, threads=True, ir="changed"))


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    program = find_chromium()
    if program is None:
        pytest.skip("chromium is not installed (scripts/install-debian-mlir)")
    with Browser(program) as browser:
        yield browser


@pytest.fixture
def page(browser: Browser, report: Path) -> Iterator[Browser]:
    """The report, opened anew; at the end there must have been no complaint."""
    browser.errors.clear()
    browser.resize(width=1300)
    browser.open(report)
    assert browser.run("document.documentElement.dataset.ready") == "yes"
    yield browser
    assert browser.errors == []


def column(page: Browser, section: str, title: str) -> list[str]:
    """Return what stands in a column of the first table of a section."""
    return page.run(
        f"""(() => {{
          const table = document.querySelector('#{section} table');
          const heads = [...table.querySelectorAll('thead th')].map((one) => one.textContent);
          const at = heads.indexOf('{title}');
          return [...table.querySelectorAll('tbody tr')].map((row) => row.cells[at].textContent);
        }})()"""
    )


def click_head(page: Browser, section: str, title: str) -> str | None:
    """Click a column's title; return in which order it says that it is."""
    heads = f"[...document.querySelectorAll('#{section} thead th')]"
    script = f"{heads}.find(head => head.textContent == '{title}')"
    page.run(f"{script}.dataset.wanted = '{section}'")
    page.click(f"[data-wanted={section}] button")
    order = page.run(f"{script}.getAttribute('aria-sort')")
    page.run(f"delete {script}.dataset.wanted")
    return order


def drawn(page: Browser) -> str:
    """Return the picture that is in the timeline, once it is drawn."""
    return page.run(
        """new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(
          () => done(document.getElementById('canvas').toDataURL()))))"""
    )


def colors(page: Browser) -> int:
    """Count the colours in the timeline."""
    return page.run(
        """(() => {
          const { width, height } = document.getElementById('canvas');
          const copy = new OffscreenCanvas(width, height).getContext('2d');
          copy.drawImage(document.getElementById('canvas'), 0, 0);
          return new Set(new Uint32Array(copy.getImageData(0, 0, width, height).data.buffer)).size;
        })()"""
    )


def shown_span(page: Browser) -> str:
    drawn(page)
    return page.run("document.getElementById('span').textContent")


def search(page: Browser, words: str) -> str:
    page.press("/")
    page.run("document.getElementById('search').value = ''")
    page.command("Input.insertText", text=words)
    page.press("Enter", code="Enter", windowsVirtualKeyCode=13)
    return page.run("document.getElementById('results').innerText")


# --- tables -------------------------------------------------------------------------------------


def test_a_click_sorts(page: Browser) -> None:
    assert click_head(page, "groups", "calls") == "descending"
    calls = [int(text.replace(",", "")) for text in column(page, "groups", "calls")]
    assert calls == sorted(calls, reverse=True) and len(set(calls)) > 3
    assert click_head(page, "groups", "calls") == "ascending"
    assert column(page, "groups", "calls") == [f"{each:,}" for each in sorted(calls)]
    assert click_head(page, "groups", "name") == "ascending"
    names = column(page, "groups", "name")
    assert sorted(names, key=str.casefold) == names
    heads = page.run("document.querySelectorAll('#groups th[aria-sort]').length")
    assert heads == 1


def test_the_keyboard_sorts(page: Browser) -> None:
    page.run("document.querySelectorAll('#groups thead button')[2].focus()")
    page.press("Enter", code="Enter", windowsVirtualKeyCode=13, text="\r")
    head = "document.querySelectorAll('#groups thead th')[2]"
    assert page.run(f"{head}.getAttribute('aria-sort')") == "descending"


def test_only_one_kind_is_shown(page: Browser) -> None:
    kinds = set(column(page, "groups", "kind"))
    assert kinds == {"pass", "iteration", "pattern", "fold"}
    page.run(
        "[...document.querySelectorAll('#groups .bar button')]"
        ".find(b => b.textContent == 'fold').click()"
    )
    assert set(column(page, "groups", "kind")) == {"fold"}


def test_more_rows_are_shown_on_request(page: Browser) -> None:
    assert len(column(page, "slowest", "action")) == 25
    page.click("#slowest .more button")
    assert len(column(page, "slowest", "action")) == 225
    self_times = page.run("actions.self.length")
    assert self_times == 3000


def test_the_slowest_are_first(page: Browser) -> None:
    first = column(page, "slowest", "action")[0]
    longest = page.run("actions.ordinal[actions.self.indexOf(Math.max(...actions.self))]")
    assert first == f"#{longest}"


def test_an_action_that_changed_something_is_opened(page: Browser) -> None:
    page.run("[...document.querySelectorAll('#changing .bar button')][1].click()")
    page.click("#changing .opener")
    assert page.run("document.querySelector('#changing .opener').ariaExpanded") == "true"
    shown = "document.querySelector('#changing tr.detail')"
    assert page.run(f"{shown}.querySelectorAll('td.old, td.new').length") > 0
    assert page.run(f"{shown}.querySelectorAll('.hl .k').length") > 0
    assert page.run(f"{shown}.querySelectorAll('.changes li').length") == 3
    is_wide = page.run(f"{shown}.querySelectorAll('table.side').length")
    page.click("#changing tr.detail .difference button")
    assert page.run(f"{shown}.querySelectorAll('table.side').length") == 1 - is_wide
    assert page.run(f"{shown}.querySelectorAll('td.sign').length") > 0 if is_wide else True
    page.click("#changing .opener")
    assert page.run(shown) is None


# --- search ---------------------------------------------------------------------------------------


def test_search_finds_names_places_and_diffs(page: Browser) -> None:
    found = search(page, "neverMATCHES")
    assert "names (1)" in found and re.search(r"NeverMatches\s+\d+ calls, 0 succeeded", found)
    assert "more: add a word" in found
    found = search(page, "in.mlir:44 scf.for")
    assert "actions (" in found and "names (" not in found
    assert "functions (1)" in search(page, "f17")
    assert "reasons of failure" in search(page, "more than one use")
    assert "diffs (" in search(page, "arith.constant 3")
    found = search(page, "nowhere to be found")
    assert "Nothing in the page." in found and "all 3,000 actions" in found


def test_search_by_ordinal_and_away(page: Browser) -> None:
    found = search(page, "#1234")
    assert "actions (1)" in found and "#1234" in found
    page.press("Escape", code="Escape", windowsVirtualKeyCode=27)
    assert page.run("document.getElementById('results').hidden") is True


def test_link_opens_an_action(page: Browser) -> None:
    page.run("document.querySelector('#reasons tbody a[href^=\"#action-\"]').click()")
    drawn(page)
    ordinal = page.run("location.hash").removeprefix("#action-")
    panel = page.run("document.getElementById('action').innerText")
    assert f"#{ordinal} apply-pattern" in panel and "failed" in panel
    assert "canonicalize" in panel  # what is around it
    assert page.run("actions.ordinal[selected]") == int(ordinal)
    page.run("document.querySelector('#action h3 .name a').click()")
    drawn(page)
    assert "names (1)" in page.run("document.getElementById('results').innerText")


def test_invalid_link_is_ignored(page: Browser) -> None:
    for link in ("#%", "#action-0", "#action-99999", "#find=%3Cb%3E", "#find="):
        page.run(f"location.hash = '{link}'")
        drawn(page)


# --- the timeline ---------------------------------------------------------------------------


def test_the_timeline_is_drawn_and_zoomed(page: Browser) -> None:
    whole, picture = shown_span(page), drawn(page)
    assert colors(page) > 5
    page.click("#zoom-in")
    assert shown_span(page) != whole and drawn(page) != picture
    page.click("#zoom-whole")
    assert shown_span(page) == whole and drawn(page) == picture
    page.run("document.getElementById('canvas').focus()")
    for key, same in (("+", False), ("ArrowRight", False), ("0", True), ("-", True)):
        before = shown_span(page)
        page.press(key)
        assert (shown_span(page) == whole) is same, (key, before)


def test_a_bar_ends_after_those_inside_it(browser: Browser, directory: Path) -> None:
    """Begins include the recording of IR, durations do not."""
    actions = [
        Action(start=0, duration=300),
        Action(start=100, duration=50, depth=1),
        Action(start=9_000, duration=200, depth=1),
        Action(start=9_050, duration=10, depth=2),
    ]
    browser.errors.clear()
    browser.open(_page(write_recording(directory / "ir.adbrec", actions)))
    assert browser.run("[0, 1, 2, 3].map(endOf)") == [9_200, 150, 9_200, 9_060]
    assert browser.run("[0, 1, 2, 3].map(lengthOf)") == [300, 50, 200, 10]
    assert browser.errors == []


def test_the_keys_walk_through_the_actions(page: Browser) -> None:
    page.run("document.getElementById('canvas').focus()")
    page.press("ArrowDown")
    ordinals = [page.run("actions.ordinal[selected]")]
    for key in ("ArrowDown", "n", "p", "ArrowUp", "Enter"):
        page.press(key)
        ordinals.append(page.run("actions.ordinal[selected]"))
    first, inside, after, before, around, zoomed = ordinals
    assert first == 1 and inside == before > 1 and after > inside and around == zoomed == 1
    assert page.run("document.getElementById('said').textContent").startswith("#1 pass-execution")


def test_a_click_selects_and_the_wheel_zooms(page: Browser) -> None:
    box: list[float] = page.run(
        "(() => { const b = document.getElementById('canvas').getBoundingClientRect();"
        "return [b.x + b.width / 2, b.y + 20 + 30 + 9]; })()"
    )
    where: dict[str, Any] = {"x": box[0], "y": box[1]}
    page.command("Input.dispatchMouseEvent", type="mouseMoved", **where)
    assert "#1 pass-execution" in page.run("document.getElementById('tip').textContent")
    for kind in ("mousePressed", "mouseReleased"):
        page.command("Input.dispatchMouseEvent", type=kind, button="left", clickCount=1, **where)
    assert page.run("actions.ordinal[selected]") == 1
    whole = shown_span(page)
    page.command("Input.dispatchMouseEvent", type="mouseWheel", deltaX=0, deltaY=-300, **where)
    assert shown_span(page) != whole
    page.command("Input.dispatchMouseEvent", type="mousePressed", button="left", **where)
    page.command(
        "Input.dispatchMouseEvent", type="mouseMoved", button="left", x=box[0] - 90, y=box[1]
    )
    page.command("Input.dispatchMouseEvent", type="mouseReleased", button="left", **where)


# --- how it looks ---------------------------------------------------------------------------------


def test_light_dark_narrow_and_on_paper(page: Browser) -> None:
    ground = "getComputedStyle(document.body).backgroundColor"
    page.resize(width=1300)
    light, picture = page.run(ground), drawn(page)
    page.resize(width=1300, dark=True)
    assert page.run(ground) != light
    assert drawn(page) != picture
    page.resize(width=400)
    assert page.run("document.documentElement.scrollWidth") <= 400
    page.resize(width=1300)
    assert len(page.command("Page.printToPDF")["data"]) > 10_000


# --- other recordings -----------------------------------------------------------------------


def test_no_name_is_run_as_a_script(browser: Browser, directory: Path) -> None:
    browser.errors.clear()
    browser.open(_page(nasty_recording(directory / "nasty.adbrec")))
    browser.run("document.querySelectorAll('.opener').forEach((one) => one.click())")
    assert "window.bad = 1" in search(browser, "window.bad")
    assert browser.run("window.bad") is None
    assert browser.run("document.querySelectorAll('b').length") == 0
    # Even one that got in would not be run.
    browser.run(
        "document.body.append(Object.assign(document.createElement('script'),"
        "{textContent: 'window.bad = 2'}))"
    )
    assert browser.run("window.bad") is None
    assert len(browser.errors) == 1 and "Content Security Policy" in browser.errors[0]


@pytest.mark.parametrize("count", [0, 1])
def test_recording_of_few_actions(browser: Browser, directory: Path, count: int) -> None:
    actions = [Action(operation=1, duration=None, outcome="unfinished")] * count
    path = write_recording(directory / f"{count}.adbrec", actions, [Operation(1)], killed=True)
    browser.errors.clear()
    browser.open(_page(path))
    assert browser.run("document.documentElement.dataset.ready") == "yes"
    assert "Nothing: every greedy driver" in browser.run("document.body.innerText")
    browser.run("document.getElementById('canvas').focus()")
    for key in ("ArrowDown", "ArrowUp", "n", "p", "Enter", "+", "0"):
        browser.press(key)
    assert drawn(browser)
    assert browser.errors == []


def test_many_actions_are_summed_up(browser: Browser, directory: Path) -> None:
    report = _page(fake_recording(directory / "many.adbrec", 100_000, 3, threads=True), 1)
    browser.errors.clear()
    browser.resize(width=1300)
    browser.open(report)
    legend = browser.run("document.getElementById('legend').innerText")
    assert "hatched: shorter ones, not in the page" in legend
    missing = browser.run("(() => { let n = 1; while (placeOf.has(n)) n++; return n; })()")
    found = search(browser, f"#{missing}")
    assert f"Action #{missing} itself is not in the page." in found
    assert f"WHERE ordinal = {missing}" in found
    assert browser.errors == []


def test_a_screenshot_is_a_picture(page: Browser) -> None:
    png = page.screenshot()
    assert png.startswith(b"\x89PNG") and len(zlib.compress(png)) > 20_000


def test_an_import_has_an_order_and_no_times(browser: Browser, directory: Path) -> None:
    recording = directory / "import.adbrec"
    import_log(str(ROOT / "tests/inputs/logs/both.log"), recording)
    browser.errors.clear()
    browser.open(_page(recording))
    assert browser.run("document.documentElement.dataset.ready") == "yes"
    heads = browser.run(
        "[...document.querySelectorAll('#groups thead th')].map((one) => one.textContent)"
    )
    assert heads[:3] == ["name", "kind", "calls"]
    assert not {"time", "self time", "mean", "longest"} & set(heads)
    assert browser.run("document.getElementById('slowest').hidden") is True
    browser.run("location.hash = '#action-6'")
    shown = browser.run("document.getElementById('action').textContent")
    assert "#5 inline" in shown
    assert "took" not in shown
    assert browser.errors == []
