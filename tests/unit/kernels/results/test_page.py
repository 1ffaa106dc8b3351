"""Reports as HTML pages: they are well-formed, and the plot shows what was measured."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from actiondbg.kernels.results.entry import entries_of, entry_of
from actiondbg.kernels.results.page import roofline_svg, to_html
from actiondbg.kernels.results.report_files import ReportFiles
from tests.fakes.kernels.rows import BROKEN, FAST, ROWS, WRONG


def test_a_page_has_all_dispatches_and_the_wrong_ones_in_full(tmp_path: Path) -> None:
    page = tmp_path / "a.html"
    ReportFiles([page]).write(entries_of(ROWS))
    text = page.read_text()
    assert len(re.findall('<tr id="d[0-9]', text)) == len(ROWS)
    assert "<p>4 dispatches: 1 right, 1 wrong, 1 not compiled, 1 not verified.</p>" in text
    assert "....xx..\n..\\n..xx</pre>" in text
    assert "cc failed with exit status 1." in text


def test_a_page_escapes_what_it_shows() -> None:
    row = replace(WRONG, culprit="<b>&", tags=(("<i>", "<u>"),))
    text = to_html(entries_of([row]), "<s>")
    assert "culprit &lt;b&gt;&amp;" in text
    assert not re.search("<[bius]>", text)


def test_the_best_configuration_of_an_operation_is_marked() -> None:
    slow = replace(entry_of(FAST), seconds=(1.0,))
    text = to_html([slow, entry_of(FAST), entry_of(WRONG)])
    assert re.findall('<tr id="(d[0-9])" class="best">', text) == ["d1"]


def test_the_plot_shows_points_and_roofs() -> None:
    svg = roofline_svg(entries_of(ROWS))
    assert svg.count("<circle") == 1 + 2  # of one right dispatch, and of two in the legend
    assert svg.count('class="roof"') == 1
    assert "peak 100 GFLOP/s" in svg
    assert ">10.0 GB/s</text>" in svg
    assert "67.1 GFLOP/s, 4.000 ms, 67.1 % of the roof\nSUCCESS" in svg


def test_points_are_below_the_roof_by_their_share() -> None:
    fast = entry_of(FAST)
    at_peak = replace(fast, seconds=(fast.flops / 100e9,))
    svg = roofline_svg([at_peak])
    (dot,) = re.findall('cx="[0-9.]+" cy="([0-9.]+)" r="5"/>\n<title>', svg)
    (roof,) = re.findall('<path class="roof" d="[^"]*,([0-9.]+)"', svg)
    assert float(dot) == float(roof)


def test_without_peaks_there_are_points_only() -> None:
    svg = roofline_svg([replace(entry_of(FAST), peak_gflops=None, peak_bandwidth=None)])
    assert 'class="roof"' not in svg
    assert "<circle" in svg


def test_without_times_there_is_no_plot() -> None:
    assert roofline_svg(entries_of([BROKEN])) == ""
    assert "Roofline" not in to_html(entries_of([BROKEN]))
    assert to_html([])


def test_roofs_that_are_nearly_the_same_share_labels() -> None:
    fast = entry_of(FAST)
    svg = roofline_svg([fast, replace(fast, peak_gflops=101.0, peak_bandwidth=10.1e9)])
    assert svg.count('class="roof"') == 2
    assert svg.count(">peak ") == 1
    assert svg.count("GB/s</text>") == 1


def test_each_series_has_a_mark_of_its_own() -> None:
    entries = [
        replace(entry_of(FAST), provider=provider, kind=f"kind_{number}")
        for provider in ("mlir", "iree")
        for number in range(10)
    ]
    in_legend = r'<(?:circle|path) class="dot c\d" (?:cx="7" cy="7"|d="M7 7)[^>]*>'
    marks = re.findall(in_legend, roofline_svg(entries))
    assert len(marks) == 20
    assert len(set(marks)) == 20
