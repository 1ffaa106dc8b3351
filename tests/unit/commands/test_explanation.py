"""What explain shows of one explanation, as a page and as JSON."""

from __future__ import annotations

from actiondbg.analysis.legalization.explanation import CAST, Explanation
from actiondbg.analysis.legalization.tree import Conversion, Legalization, TriedPattern
from actiondbg.commands.render.legalization.explanation_page import explanation_page
from actiondbg.commands.render.legalization.explanation_text import (
    ExplanationShown,
    explanation_json,
)
from actiondbg.protocol.legalizations import CastLeft, OperationsLeft


def _conversion(ordinal: int) -> Conversion:
    return Conversion(ordinal=ordinal, full=False, pass_name="lower", function="f", failed=False)


def _with_casts() -> Explanation:
    """A run that succeeded, in which a conversion left an addition, and another one a cast."""
    tried = [TriedPattern(name="Lower", benefit=1, ordinal=2, result="failed")]
    one = Legalization(
        id=1, op="test.add", location=None, legality="unknown", legalized=False, tried=tried
    )
    first, second = _conversion(1), _conversion(3)
    first.legalizations.append(one)
    cast = CastLeft(
        id=7, made=True, source=["i32"], target=["i64"], definer=None, argument=False, users=[]
    )
    second.left.append(OperationsLeft(name=CAST, legality="legal", count=1, id=7, casts=[cast]))
    casts = Explanation(target=f"op:{CAST}", conversions=[second])
    return Explanation(target=None, conversions=[first], casts=casts)


def test_a_page_shows_what_was_left_beside_casts_as_the_text_does() -> None:
    page = explanation_page(_with_casts())
    assert "pattern Lower did not match" in page and "test.add" in page
    assert CAST in page and "no pattern was tried" in page


def test_the_key_of_casts_is_always_there() -> None:
    found = _with_casts()
    shown = explanation_json(ExplanationShown(found, False))
    assert isinstance(shown, dict) and shown["casts"]["conversions"][0]["ordinal"] == 3
    found.casts = None
    without = explanation_json(ExplanationShown(found, False))
    assert isinstance(without, dict) and without["casts"] is None
