"""Assembly of a module from its last dump and the later dumps of operations in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from actiondbg.ir.aliases import with_suffix
from actiondbg.ir.tree.outline import MODULE, Printed, outermost


class Piece(NamedTuple):
    """A later text of an operation in another text.

    Attributes:
        place: the operation there.
        text: its later text, a dump.
    """

    place: Printed
    text: str


def assembled(text: str, pieces: Sequence[Piece]) -> str:
    """Return a text with the later texts of operations in it; nested places are left out."""
    above: list[str] = []
    parts: list[str] = []
    at = 0
    for number, piece in enumerate(
        sorted(pieces, key=lambda one: (one.place.begin, -one.place.end))
    ):
        begin, end = piece.place.begin, piece.place.end
        if begin < at:
            continue
        renamed = with_suffix(piece.text, f"_{number}")
        outer = outermost(renamed)
        if outer is None:
            continue
        first = text[begin:end]
        indent = " " * (len(first) - len(first.lstrip(" ")))
        own = renamed[outer.begin : outer.end]
        if first.lstrip(" ").startswith(MODULE) and not own.startswith(MODULE):
            own = own.replace("module", MODULE, 1)  # as it is printed in other dialects' regions
        above.append(renamed[: outer.begin] + renamed[outer.end :])
        parts += (text[at:begin], _indented(own, indent))
        at = end
    return "".join((*(_lines(one) for one in above), *parts, text[at:]))


def module_of(texts: Sequence[str]) -> str:
    """Return a module that holds the operations of some dumps."""
    above: list[str] = []
    inside: list[str] = []
    for number, text in enumerate(texts):
        renamed = with_suffix(text, f"_{number}")
        outer = outermost(renamed)
        if outer is not None:
            above.append(renamed[: outer.begin] + renamed[outer.end :])
            inside.append(_indented(renamed[outer.begin : outer.end], "  "))
    return "".join((*(_lines(one) for one in above), "module {\n", *inside, "}\n"))


def _indented(text: str, indent: str) -> str:
    """Return lines with more indentation, which end with an end of line."""
    lines = text.rstrip("\n").split("\n")
    return "".join(f"{indent if line else ''}{line}\n" for line in lines)


def _lines(text: str) -> str:
    """Return text without empty lines around it; other lines end with an end of line."""
    bare = text.strip("\n")
    return f"{bare}\n" if bare else ""
