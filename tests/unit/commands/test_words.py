"""The words of command lines, and redirections."""

from __future__ import annotations

import pytest

from actiondbg.commands.interpreter.words import split_redirect, split_words
from actiondbg.commands.render.terminal.output import Redirect

PATTERN = "Lower<mlir::arith::AddIOp, Kind<mlir::X, 2>, 3ul>"


def _words(text: str) -> list[str]:
    return [word.text for word in split_words(text)]


def test_the_name_of_a_template_is_one_word() -> None:
    assert _words(f"why-not --all {PATTERN} @3") == ["why-not", "--all", PATTERN, "@3"]
    assert split_redirect(f"break {PATTERN}") == (f"break {PATTERN}", None)
    assert split_redirect(f"why-not {PATTERN}>out") == (
        f"why-not {PATTERN}",
        Redirect(">", "out"),
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a<in>out", ["a", "<", "in", ">", "out"]),
        ("a <b::c >d", ["a", "<", "b::c", ">", "d"]),
        ("a<b::c", ["a", "<", "b::c"]),
        ("'a<b::c>' d", ["a<b::c>", "d"]),
    ],
)
def test_what_looks_like_a_template(text: str, words: list[str]) -> None:
    assert _words(text) == words
