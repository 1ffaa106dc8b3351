"""Reports as text of a terminal and as Markdown."""

from __future__ import annotations

from dataclasses import replace

import pytest

from actiondbg.commands.render.kernels.rows import block_lines, report_lines
from actiondbg.kernels.results.entry import entries_of, entry_of
from actiondbg.kernels.results.report_files import to_markdown
from actiondbg.kernels.results.words import bandwidth, digits, notes
from tests.fakes.kernels.rows import FAST, ONLY_COMPILED, ROWS, WRONG


def test_a_block_is_that_of_the_dispatch_profiler_and_more() -> None:
    assert block_lines(entry_of(FAST)) == [
        "-" * 64,
        "Dispatch      : matmul_512x512x512_f32t_f32t_f32t_mlir_tile_8x8",
        "Provider      : mlir",
        "OpKind        : matmul",
        "Operation     : matmul_512x512x512_f32t_f32t_f32t",
        "Configuration : mlir_tile_8x8",
        "Arguments     : --batch_count=1 --m=512 --n=512 --k=512 --lhs=f32t --rhs=f32t",
        "                --result=f32t",
        "Verification  : SUCCESS",
        "Runtime(ms)   : 4.000",
        "GFLOPs        : 67.11",
        "Range(ms)     : 4.000 to 4.300, median 4.100, in 3 repetitions; measured again:",
        "                4.050",
        "Call(ms)      : 0.025, 0.62 % of the time: a call that does nothing",
        "Events        : page-faults 0.500, task-clock 4,123,456",
        "Bandwidth     : 786 MB/s at least; 85.3 operations a byte",
        "Of the peak   : 67.1 % of 100 GFLOP/s",
    ]


def test_a_wrong_kernel_shows_its_elements_and_the_culprit() -> None:
    assert block_lines(entry_of(WRONG), 200)[8:] == [
        "Runtime(ms)   : 0.001000",
        "GFLOPs        : 1.00",
        "Range(ms)     : 0.001000 to 0.001000, median 0.001000, in 1 repetition; 3 context "
        "switches",
        "Bandwidth     : 8.00 GB/s at least; 0.125 operations a byte",
        "Of the peak   : 1.00 % of 100 GFLOP/s; 80.0 % of the 1.25 GFLOP/s that the bandwidth "
        "allows",
        "Configured    : no: The tile sizes were dropped.",
        "Wrong         : 4 of 1,000 elements (equal)",
        "                [4]: got 1, expected -1",
        "                [5]: got \\nan, expected -2",
        "                ....xx..",
        "                ..\\n..xx",
        'Detail        : Every wrong element has an index % 8 >= 4, "the second half".',
        "Culprit       : #7 pass-execution (cse) (see bisect/negation)",
    ]


def test_a_kernel_that_only_moves_data_has_no_share_of_the_peak() -> None:
    entry = replace(entry_of(WRONG), flops=0)
    assert not [line for line in block_lines(entry, 200) if line.startswith("Of the peak")]


def test_what_was_not_measured_is_not_invented() -> None:
    lines = block_lines(entry_of(ONLY_COMPILED))
    assert lines[-3:] == [
        "Verification  : Not verified",
        "Runtime(ms)   : Not profiled",
        "GFLOPs        : Not profiled",
    ]


def test_many_dispatches_are_a_table_with_the_wrong_ones_in_full() -> None:
    lines = report_lines(entries_of([FAST] * 10 + [WRONG]))
    assert lines[0].split() == [
        "verified",
        "ms",
        "call",
        "ms",
        "GFLOP/s",
        "%",
        "of",
        "peak",
        "notes",
    ]
    assert lines[1] == entries_of([FAST])[0].operation
    assert lines[2].split()[1:6] == ["SUCCESS", "4.000", "0.025", "67.1", "67"]
    assert lines[2].split()[6] == "confirmed;"
    assert sum(line.startswith("Dispatch ") for line in lines) == 1
    assert lines[-1] == "11 dispatches: 10 right, 1 wrong."
    full = report_lines(entries_of([FAST] * 11), full=True)
    assert sum(line.startswith("Dispatch ") for line in full) == 11


def test_markdown_escapes_what_would_be_a_table() -> None:
    row = replace(WRONG, culprit="a|b*c")
    text = to_markdown(entries_of([*ROWS, row]))
    assert "5 dispatches: 1 right, 2 wrong, 1 not compiled, 1 not verified." in text
    assert "culprit a\\|b\\*c; 4 wrong; configuration not applied; context switches |" in text
    assert "### negation_1000_mlir_plain\n\n- Provider: mlir\n" in text
    assert "```text\n[4]: got 1, expected -1\n" in text


@pytest.mark.parametrize(
    "value, text",
    [
        (0, "0"),
        (float("nan"), "nan"),
        (123456, "123000"),
        (102.4, "102"),
        (9.999, "10.0"),
        (0.01234, "0.0123"),
    ],
)
def test_digits(value: float, text: str) -> None:
    assert digits(value) == text


def test_bandwidths_have_units() -> None:
    assert [bandwidth(each) for each in (12.5e9, 3e6, 1.5e12, 10)] == [
        "12.5 GB/s",
        "3.00 MB/s",
        "1.50 TB/s",
        "0.0100 kB/s",
    ]


@pytest.mark.parametrize("switches, noted", [(0, False), (2, False), (3, True)])
def test_context_switches_are_noted_if_each_repetition_may_have_one(
    switches: int, noted: bool
) -> None:
    entry = replace(entry_of(FAST), switches=switches)
    assert ("context switches" in notes(entry)) == noted


def test_a_long_name_is_not_broken() -> None:
    assert (
        block_lines(replace(entry_of(FAST), dispatch="x" * 90))[1] == f"Dispatch      : {'x' * 90}"
    )


def test_a_table_in_a_file_is_not_cut() -> None:
    long = replace(entry_of(WRONG), configuration="c" * 200, culprit="the end")
    entries = [replace(long, dispatch=f"d{number}") for number in range(12)]
    cut = [each for each in report_lines(entries, width=100) if "c" * 40 in each]
    whole = [each for each in report_lines(entries, width=None) if "c" * 200 in each]
    assert any(each.endswith("…") for each in cut)
    assert whole
    assert not any("…" in each for each in whole)


def test_slices_of_sums_are_an_argument() -> None:
    entry = replace(entry_of(FAST), parameters={"split_k_slices": "4"})
    assert "--split_k_slices=4" in " ".join(block_lines(entry, 500))
