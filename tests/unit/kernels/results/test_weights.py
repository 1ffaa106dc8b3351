"""The operations of a model by their share of its time."""

from __future__ import annotations

from dataclasses import replace

from actiondbg.commands.render.kernels.rows import report_lines, report_object
from actiondbg.kernels.results.entry import Entry, Verification
from actiondbg.kernels.results.page import to_html
from actiondbg.kernels.results.report_files import to_markdown
from actiondbg.kernels.results.words import model_weights

_RIGHT = Verification("SUCCESS")


def _entry(operation: str, name: str, count: str, *seconds: float) -> Entry:
    return Entry(
        f"{operation}_{name}",
        "model",
        operation,
        "mlir",
        name,
        arguments={"count": count},
        flops=1,
        seconds=seconds,
        verification=_RIGHT,
    )


_RARE = _entry("rare", "a", "1", 0.003, 0.002)
_OFTEN = [_entry("often", "a", "3", 0.004), _entry("often", "b", "3", 0.002, 0.005)]
_WRONG = replace(_entry("often", "c", "3", 0.001), verification=Verification("FAILED", wrong=1))
_TOO_FAST = replace(_entry("often", "d", "3", 0.001), flops=10**9, peak_gflops=1.0)
_MISSING = _entry("missing", "a", "5")
_MODEL = [_RARE, *_OFTEN, _WRONG, _TOO_FAST, _MISSING]


def test_the_heaviest_operation_is_first_with_its_fastest_right_kernel() -> None:
    found = model_weights(_MODEL)
    assert [(each.entry.dispatch, each.count, each.share) for each in found.weights] == [
        ("often_b", 3, 75.0),
        ("rare_a", 1, 25.0),
    ]
    assert found.weights[0].seconds == 3 * 0.002
    assert found.missing == 1
    assert "8.000 ms in all" in found.summary
    assert found.summary.endswith("1 operation without a time is left out.")


def test_entries_of_no_model_have_no_shares() -> None:
    plain = [replace(each, arguments={"m": "8"}) for each in _MODEL]
    assert model_weights(plain).weights == ()
    assert not any("Shares" in line for line in report_lines(plain))
    assert "shares" not in report_object(plain)
    assert "Shares" not in to_markdown(plain) + to_html(plain)
    assert model_weights([_MISSING]).weights == ()


def test_each_format_has_the_shares() -> None:
    lines = report_lines(_MODEL)
    at = lines.index("Shares of the model:")
    assert lines[at + 2].split() == ["75.0", "%", "6.000", "3", "2.000", "often", "b"]
    assert lines[at + 3].split() == ["25.0", "%", "2.000", "1", "2.000", "rare", "a"]
    assert report_object(_MODEL)["shares"] == [
        {"operation": "often", "dispatch": "often_b", "count": 3, "seconds": 0.006, "share": 75.0},
        {"operation": "rare", "dispatch": "rare_a", "count": 1, "seconds": 0.002, "share": 25.0},
    ]
    assert "| 75.0 % | 6.000 | 3 | 2.000 | often | b |" in to_markdown(_MODEL)
    assert '<td class="n">75.0 %</td><td class="n">6.000</td>' in to_html(_MODEL)
