"""The notation of alternatives."""

from __future__ import annotations

import pytest

from actiondbg.errors import UsageError
from actiondbg.whatif import (
    Alternative,
    AppendedPipeline,
    ChangedBenefit,
    DroppedPass,
    PatternSwitch,
    parse_alternatives,
)


@pytest.mark.parametrize(
    ("text", "changes"),
    [
        ("pattern:FoldX off", [(PatternSwitch("FoldX", on=False),)]),
        ("pattern:ns::Fold* on;", [(PatternSwitch("ns::Fold*", on=True),)]),
        ("drop cse; drop pass:sccp", [(DroppedPass("cse"),), (DroppedPass("sccp"),)]),
        (
            "append 'canonicalize{max-iterations=1}, cse' and benefit pattern:FoldX 7",
            [(AppendedPipeline("canonicalize{max-iterations=1}, cse"), ChangedBenefit("FoldX", 7))],
        ),
        ("pattern:'a b' off;;drop x", [(PatternSwitch("a b", on=False),), (DroppedPass("x"),)]),
    ],
)
def test_a_text_and_back(text: str, changes: list[tuple[object, ...]]) -> None:
    found = parse_alternatives(text)
    assert [one.changes for one in found] == changes
    assert parse_alternatives("; ".join(one.text for one in found)) == found


def test_the_run_as_it_is_has_no_changes() -> None:
    assert Alternative().text == "as it is"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "There is no alternative"),
        (" ; ", "There is no alternative"),
        ("pattern:FoldX", "'pattern:FoldX' is no alternative: give one of pattern:P off|on"),
        ("pattern:FoldX maybe", "is no alternative"),
        ("pattern: off", "The name is missing"),
        ("FoldX off", "is no alternative"),
        ("#17 off", "is no alternative: to leave out one action, 'goto #17' and 'skip'."),
        ("drop", "is no alternative"),
        ("drop cse sccp", "is no alternative"),
        ("append canonicalize, cse", "put the pipeline into quotes"),
        ("append 'cse", "A quote is not closed"),
        ("benefit FoldX", "is no alternative"),
        ("benefit FoldX many", "'many' is no benefit: give an integer from 0 to 65,534"),
        ("benefit FoldX 65535", "is no benefit"),
        ("drop [", r"The \[ in '\[' is not closed"),
    ],
)
def test_errors(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse_alternatives(text)
