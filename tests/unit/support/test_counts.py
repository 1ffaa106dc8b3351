"""Counts with their nouns."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from actiondbg.support.counts import counted, joined, no_such, plural, times
from tests.elements import some
from tests.paths import ROOT


@pytest.mark.parametrize(
    ("count", "noun", "expected"),
    [
        (1, "action", "1 action"),
        (0, "action", "0 actions"),
        (12345, "pass", "12,345 passes"),
        (2, "box", "2 boxes"),
        (2, "context switch", "2 context switches"),
        (2, "entry", "2 entries"),
        (2, "day", "2 days"),
        (1, "dispatch", "1 dispatch"),
    ],
)
def test_a_count_and_its_noun_agree(count: int, noun: str, expected: str) -> None:
    assert counted(count, noun) == expected


def test_plural_of_a_count() -> None:
    assert (plural("watch"), plural("watch", 1), plural("success", 0)) == (
        "watches",
        "watch",
        "successes",
    )


def test_how_often() -> None:
    assert (times(1), times(2), times(1000)) == ("once", "2 times", "1,000 times")


def test_lists_of_words() -> None:
    assert joined([1]) == "1"
    assert joined(["a", "b"]) == "a and b"
    assert joined(["a", "b", "c"], "or") == "a, b or c"


def test_what_exists_is_named_in_its_number() -> None:
    assert no_such("checkpoint", 9, []) == "There is no checkpoint 9: there are none."
    assert no_such("checkpoint", 9, [1]) == "There is no checkpoint 9: the only one is 1."
    assert no_such("watch", 9, [1, 4]) == "There is no watch 9: the watches are 1 and 4."


def test_no_message_makes_plurals_by_itself() -> None:
    """There is one helper: an ending that depends on a count stands nowhere else."""
    ending = re.compile(r"""\{'(?:e?s)'\[|'e?s' (?:\*|if)|'' if \w+ == 1 else|else 'e?s'""")
    own: list[Path] = []
    for folder in ("actiondbg", "commands"):
        for path in some((ROOT / folder).rglob("*.py")):
            if ending.search(path.read_text()) and path.name != "counts.py":
                own.append(path)
    assert own == []
