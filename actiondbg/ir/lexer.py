"""A Pygments lexer for MLIR, and a faster writer of ANSI colours with the same tokens.

The lexer is one regular expression with a group a token type, which is several
times faster than a Pygments state machine; MLIR needs no state to be coloured.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar

from pygments.lexer import Lexer
from pygments.style import Style
from pygments.token import (
    Comment,
    Error,
    Keyword,
    Name,
    Number,
    Operator,
    Punctuation,
    String,
    Token,
    Whitespace,
)

from actiondbg.ir.tokens import COMMENT, ID, STRING, SYMBOL

if TYPE_CHECKING:
    from pygments.token import _TokenType as TokenType  # pyright: ignore[reportPrivateUsage]

_FLOAT = r"f(?:4|6|8)E\w+|b?f16|tf32|f(?:32|64|80|128)"
_SHAPED = "tensor|memref|vector|tuple|complex"

# Order matters: the first alternative that matches at a place wins.
_RULES: list[tuple[TokenType, str]] = [
    (Whitespace, r"\s+"),
    (Name.Variable, rf"%(?:{ID})(?:\#\d+)?"),
    (Comment.Single, COMMENT),
    (Keyword, r'"[A-Za-z_][\w$.]*"(?=\()'),  # the operation's name in the generic form
    (String.Double, STRING),
    (Name.Label, rf"\^(?:{ID})?"),
    (Name.Function, SYMBOL),
    (Keyword.Type, rf"!(?:{ID}|{STRING})"),
    (Operator, r"->|::|==|>=|<=|\#-\}|\{-\#"),
    (Name.Constant, rf"\#(?:{ID})"),
    (Number.Hex, rf"0x(?!(?:{_FLOAT}|i\d|index\b))[0-9A-Fa-f]+\b"),
    (Number.Integer, r"(?:(?:\d+|\?|\*|\[\d+\])x)+(?=[A-Za-z!])"),  # the shape of a tensor
    (Number.Float, r"-?\d++\.\d*(?:[eE][-+]?\d+)?"),
    (Number.Integer, r"-?\d++(?![A-Za-z_])"),
    (
        Keyword.Type,
        rf"(?:[su]?i\d+|index|none|{_FLOAT}|{_SHAPED})\b(?!\.)",
    ),
    (Keyword.Constant, r"(?:true|false|unit)\b(?!\.)"),
    (Keyword.Pseudo, r"(?:loc|unknown|callsite|fused|at)\b(?=[\s(\[<])"),
    (Name.Attribute, r"[A-Za-z_$][\w$.]*+(?=\ ?=(?!=))"),
    (Keyword, r"[A-Za-z_$][\w$]*(?:\.[\w$]+)+"),  # a dialect's operation
    (Keyword.Declaration, r"(?:module|func|builtin)\b"),
    (Name, r"[A-Za-z_$][\w$]*"),
    (Number.Integer, r"\d+"),
    (Punctuation, r"[{}()\[\]<>,:;]"),
    (Operator, r"[-=+*/?|&.!\#@%~$']"),
    (Error, r"."),
]
_MATCH = re.compile("|".join(f"({pattern})" for _, pattern in _RULES))
_TOKENS: list[TokenType] = [Token, *(token for token, _ in _RULES)]  # group numbers start at 1


class MlirLexer(Lexer):
    """A lossless lexer of MLIR: custom and generic form, types, attributes, locations."""

    name = "MLIR"
    url = "https://mlir.llvm.org/docs/LangRef/"
    aliases: ClassVar[Sequence[str]] = ["mlir"]
    filenames: ClassVar[Sequence[str]] = ["*.mlir"]
    mimetypes: ClassVar[Sequence[str]] = ["text/x-mlir"]

    def get_tokens_unprocessed(self, text: str) -> Iterator[tuple[int, TokenType, str]]:
        """Yield (offset in characters, token type, text) for every character of ``text``."""
        for match in _MATCH.finditer(text):
            yield match.start(), _TOKENS[match.lastindex or 0], match.group()


class TerminalStyle(Style):
    """The default style: the terminal's own 16 colours, so it suits dark and light ones."""

    name = "terminal"
    styles: ClassVar[dict[TokenType, str]] = {  # pyright: ignore[reportIncompatibleVariableOverride]
        Comment: "ansibrightblack",
        Keyword: "bold",
        Keyword.Type: "ansigreen",
        Keyword.Constant: "ansimagenta",
        Keyword.Pseudo: "ansibrightblack",
        Name.Variable: "ansicyan",
        Name.Function: "ansiblue",
        Name.Label: "ansiyellow",
        Name.Constant: "ansimagenta",
        Number: "ansimagenta",
        String: "ansiyellow",
        Error: "ansired",
    }


def style_names() -> list[str]:
    """Return the names that ``set style`` takes, sorted."""
    from pygments.styles import get_all_styles

    return sorted({*get_all_styles(), TerminalStyle.name})


@lru_cache(maxsize=4)
def _escapes(style: str) -> list[tuple[str, str]]:
    """Return, by group number, what switches the colour of a token on and off."""
    from pygments.formatters.terminal256 import Terminal256Formatter

    formatter: Terminal256Formatter[str] = Terminal256Formatter(
        style=TerminalStyle if style == "terminal" else style
    )
    plain = ("", "")
    # Blanks stay as they are: a colour across a newline would get into the gutter.
    return [
        plain if token is Whitespace else formatter.style_string.get(str(token), plain)
        for token in _TOKENS
    ]


def colorize(text: str, style: str = "terminal") -> str:
    """Return whole lines of MLIR with ANSI colours of a style; without them it is the same text.

    Raises:
        pygments.util.ClassNotFound: there is no such style.
    """
    escapes = _escapes(style)
    parts: list[str] = []
    add = parts.append
    for match in _MATCH.finditer(text):
        on, off = escapes[match.lastindex or 0]
        add(f"{on}{match.group()}{off}" if on else match.group())
    return "".join(parts)
