"""Regular expressions match alike in all supported versions of Python."""

from __future__ import annotations

import importlib
import pkgutil
import re
from itertools import product
from typing import cast

import pytest

import actiondbg.commands
from actiondbg.ir.tokens import BLANKS, CHARACTERS
from tests.elements import some

_POSSESSIVE_GROUP = re.compile(r"\)(?:[*+?]|\{[\d,]+\})\+")


def _patterns() -> set[str]:
    """The texts of all patterns that modules keep, and of those that are made of them."""
    found: set[str] = set()
    for package in (actiondbg, actiondbg.commands):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if module.name.startswith(("actiondbg.ir", "actiondbg.lineage", "actiondbg.commands")):
                for value in vars(importlib.import_module(module.name)).values():
                    if isinstance(value, re.Pattern):
                        text = cast("re.Pattern[str] | re.Pattern[bytes]", value).pattern
                        found.add(text.decode() if isinstance(text, bytes) else text)
    return found


def test_no_group_is_possessive() -> None:
    """Before Python 3.11.5 they match wrongly, as the ID of ``%a.`` did: ``(?>(?:...)*)`` does not.

    Two kinds of text may be many megabytes, and atomic groups keep something for each part.
    """
    left = {one.replace(CHARACTERS, "").replace(BLANKS, "") for one in some(_patterns())}
    assert [one for one in left if _POSSESSIVE_GROUP.search(one)] == []


@pytest.mark.parametrize(
    ("letters", "plain", "possessive"),
    [
        ('a"\\\n', r'"((?:[^"\\\n]|\\.)*)"', rf'"({CHARACTERS})"'),
        ("a/ \n", r"(?:\s|//[^\n]*)*", BLANKS),
    ],
    ids=["characters", "blanks"],
)
def test_long_texts_match_without_a_way_back(letters: str, plain: str, possessive: str) -> None:
    texts = ("".join(one) for length in range(8) for one in product(letters, repeat=length))
    for text in some(texts):
        assert re.findall(possessive, text) == re.findall(plain, text)
