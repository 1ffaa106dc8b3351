"""What a session shows where it is printed, and in a notebook."""

from __future__ import annotations

import re
from html import unescape

import pytest

import actiondbg
from actiondbg.errors import UsageError
from actiondbg.recording.capture.recorder import record
from tests.conftest import LIBRARY
from tests.paths import ROOT

BUILDS = LIBRARY


@pytest.fixture
def stopped(mlir_opt: str) -> actiondbg.Session:
    source = str(ROOT / "examples" / "fold.mlir")
    session = actiondbg.launch([mlir_opt, source, "--canonicalize", "--cse"])
    session.breakpoints.add("pattern:AddIAddConstant", "line == 8")
    session.run()
    return session


def text_of(page: str) -> str:
    """Return the text of a page, without its styles."""
    return unescape(re.sub(r"<style>.*?</style>|<[^>]*>", "", page, flags=re.DOTALL))


def test_a_stop_and_its_session_print_as_sentences(stopped: actiondbg.Session) -> None:
    with stopped as s:
        assert re.fullmatch(
            r"Stopped before #\d+ apply-pattern \(AddIAddConstant\) in @\w+ at \S+:8:\d+ "
            r"\(breakpoint 1\)",
            str(s.stop),
        )
        assert repr(s).startswith("<Session of ") and "--cse: stopped before #" in repr(s)
        assert ": succeeded" in str(s.step())
        assert str(s.run()) == str(s.stop) != ""
        s.breakpoints.delete([1])
        assert re.fullmatch(r"The tool ended with status 0 after \d+ actions\.", str(s.continue_()))
        assert "the tool ended with status 0" in repr(s)


def test_an_excerpt_is_text_with_an_arrow(stopped: actiondbg.Session) -> None:
    with stopped as s:
        excerpt = s.ir.excerpt(before=1, after=1)
        [current] = [line for line in str(excerpt).splitlines() if line.startswith("-->")]
        assert s.stop is not None
        assert f"@{s.stop.id} " in current and "arith.addi" in current
        assert excerpt.text.splitlines()[excerpt.current].strip() in current
        whole = s.ir.excerpt(before=99, after=99)
        closing = [line for line in str(whole).splitlines() if line.strip().endswith("}")]
        assert closing and "@" not in "".join(closing), "an operation has its id once"


def test_a_notebook_shows_coloured_ir_and_the_arrow(stopped: actiondbg.Session) -> None:
    with stopped as s:
        for shown in (s.ir.excerpt(), s.ir.print("function", mark=True), s):
            page = str(shown._repr_html_())  # pyright: ignore[reportPrivateUsage]
            assert re.search(r'<span class="\w+">arith.addi</span>', page)
            [current] = [line for line in text_of(page).splitlines() if line.startswith("-->")]
            assert "arith.addi" in current


def test_the_text_to_edit_prints_as_ir(mlir_opt: str, folds: str) -> None:
    with actiondbg.launch([mlir_opt, folds, "--canonicalize"]) as s:
        s.start()
        editable = s.edits.text("module")
        assert str(editable) == editable.text != ""


def test_a_text_in_place_of_words_is_refused() -> None:
    line = "mlir-opt x"
    refusal = r"list of words, not a text: write \['mlir-opt', 'x'\]"
    with pytest.raises(UsageError, match=refusal):
        actiondbg.launch(line)
    with pytest.raises(UsageError, match=refusal):
        actiondbg.bisect(line, lambda _: True)
    with pytest.raises(UsageError, match=refusal):
        record(line, "run.adbrec")
