"""Highlighted MLIR and diffs for HTML: pieces of text, each with the CSS class of its token."""

from __future__ import annotations

import difflib
from html import escape
from itertools import repeat
from typing import TYPE_CHECKING, Any, cast

from pygments.formatters.html import HtmlFormatter
from pygments.token import STANDARD_TYPES, Whitespace

from actiondbg.ir.lexer import MlirLexer
from actiondbg.support.html_page import Html

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pygments.token import _TokenType as TokenType  # pyright: ignore[reportPrivateUsage]

    from actiondbg.ir.diff import Row

Piece = tuple[str, str]  # the CSS class of a token, or "", and its text

_LIGHT, _DARK = "default", "github-dark"  # styles of Pygments
_LEXER = MlirLexer()


def pieces(text: str) -> list[Piece]:
    """Split MLIR into pieces, whose concatenated texts are ``text``."""
    return [(_class_of(token), value) for _, token, value in _LEXER.get_tokens_unprocessed(text)]


def sides(row: Row) -> tuple[list[Piece], list[Piece]]:
    """Return both sides of a row of a diff; a missing side is empty."""
    return pieces(row.left or ""), pieces(row.right or "")


def marks(left: Sequence[Piece], right: Sequence[Piece]) -> tuple[list[bool], list[bool]]:
    """Return for each piece of both sides of a changed line whether the other side lacks it."""
    matcher = difflib.SequenceMatcher(None, left, right, autojunk=False)
    marked = ([False] * len(left), [False] * len(right))
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag != "equal":
            marked[0][i1:i2] = [True] * (i2 - i1)
            marked[1][j1:j2] = [True] * (j2 - j1)
    return marked


def token_colors() -> str:
    """Return the CSS of tokens in ``.hl``, for light and dark pages; without a background."""
    light, dark = "\n".join(_style(_LIGHT)), "\n".join(_style(_DARK))
    return f"{light}\n@media (prefers-color-scheme: dark) {{\n{dark}\n}}"


def notebook_page(rows: Iterable[tuple[str, str]]) -> str:
    """Return lines of IR for a notebook, coloured, each with what stands left of it."""
    lines = (f"{escape(gutter)}{highlighted(text)}" for gutter, text in rows)
    return f'<style>\n{token_colors()}</style>\n<pre class="hl">{chr(10).join(lines)}</pre>'


def highlighted(text: str) -> Html:
    """Return MLIR as HTML."""
    return marked_pieces(pieces(text))


def marked_pieces(parts: Sequence[Piece], marked: Sequence[bool] = ()) -> Html:
    """Return pieces as HTML; ``marked``: of each whether it is marked, as by ``marks``."""
    elements: list[str] = []
    for (name, value), is_marked in zip(parts, marked or repeat(False), strict=False):
        text = escape(value)
        text = f'<span class="{name}">{text}</span>' if name else text
        elements.append(f"<mark>{text}</mark>" if is_marked else text)
    return Html("".join(elements))


def _class_of(token: TokenType) -> str:
    if token is Whitespace:
        return ""
    while token not in STANDARD_TYPES and token.parent is not None:
        token = token.parent
    return STANDARD_TYPES.get(token, "")


def _style(name: str) -> list[str]:
    formatter = cast("Any", HtmlFormatter(style=name))
    return list(formatter.get_token_style_defs(".hl"))
