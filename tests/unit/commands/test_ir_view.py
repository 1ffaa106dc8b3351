"""The view of IR, which all IR passes that the shell shows."""

from __future__ import annotations

import pytest

from actiondbg.commands.render.ir_text.ir_view import Cut, IRView, cut_between_words
from tests.fakes.session.driver import Driver


class EuroView(IRView):
    """A view that shows values with another sign."""

    def fit(self, text: str, room: int | None = None, cut: Cut = cut_between_words) -> str:
        return super().fit(text, room, cut).replace("%", "€")


@pytest.mark.parametrize(
    "line",
    [
        *("print function", "cursor-print", "display print", "print function | cat >&2"),
        *("around", "list @7", "diff", "diff --side-by-side"),
        *("context", "cursor-defs", "cursor-parent", "info cursor", "info action", "step"),
    ],
)
def test_all_ir_that_is_shown_passes_the_view(line: str, capfd: pytest.CaptureFixture[str]) -> None:
    driver = Driver()
    driver.do("start")
    driver.console.ir_view = EuroView(driver.console)
    shown = driver.do(line) + capfd.readouterr().err
    assert "€0" in shown and "%" not in shown
