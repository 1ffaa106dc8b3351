"""Printed IR, with gutter and colours, in bounded memory; counts of operations."""

from __future__ import annotations

import re
from typing import TextIO, cast

import msgspec

from actiondbg.commands.render.ir.excerpt import Block, excerpt_text, style_of
from actiondbg.commands.render.renderer import RenderContext, Renderer, page, renders
from actiondbg.commands.render.terminal.output import Redirect, fills_screen
from actiondbg.ir.printed import PrintedText

_CHUNK = 1 << 16  # characters to colour at once
_LINE = re.compile(r"[^\n]*\n|[^\n]+")  # not splitlines, which splits at further characters
_LONGEST = 1 << 20  # characters to buffer of a line without end
_GUTTER = 4  # columns
_READ_WHOLE = 1 << 20  # bytes of IR to read for counting lines


class Counted(msgspec.Struct):
    """The number of operations of a name, in the module or in the function of the cursor."""

    glob: str
    function: bool
    count: int


class IRWriter:
    """A file-like object that writes IR with gutter and colours.

    Args:
        mark: first and last line of the cursor's operation, from 1; None: no gutter.
        style: the name of a style; None: no colours.
    """

    def __init__(self, out: TextIO, mark: tuple[int, int] | None, style: str | None) -> None:
        self._out = out
        self._mark = mark
        self._style = style
        self._line = 1
        self._at_start = True  # of a line
        self._parts: list[str] = []  # the buffered text of the incomplete line
        self._size = 0

    def write(self, text: str) -> int:
        """Write a chunk of IR, which may end within a line."""
        self._parts.append(text)
        self._size += len(text)
        if self._size >= _CHUNK:
            buffered = "".join(self._parts)
            cut = buffered.rfind("\n") + 1
            if not cut and self._size >= _LONGEST:
                cut = self._size
            self._flush(buffered[:cut], buffered[cut:])
        return len(text)

    def finish(self) -> None:
        """Write the buffered text, and end the last line."""
        self._flush("".join(self._parts), "")
        if not self._at_start:
            self._out.write("\n")

    def _flush(self, text: str, rest: str) -> None:
        self._parts = [rest]
        self._size = len(rest)
        if not text:
            return
        painted = self._paint(text)
        if self._mark is None:
            self._out.write(painted)
        else:
            self._write_lines(painted)
        self._at_start = text.endswith("\n")

    def _write_lines(self, text: str) -> None:
        for line in _LINE.findall(text):
            self._out.write((self._gutter() if self._at_start else "") + line)
            self._at_start = line.endswith("\n")
            self._line += self._at_start

    def _gutter(self) -> str:
        first, last = self._mark or (0, 0)
        if self._line == first:
            return "--> "
        return "  | " if first < self._line <= last else "    "

    def _paint(self, lines: str) -> str:
        if self._style is None:
            return lines
        from actiondbg.ir.lexer import colorize

        return colorize(lines, self._style)


def _show_ir(context: RenderContext, result: object) -> None:
    """Write printed IR: plain into a file, else marked, coloured and paged."""
    with cast("PrintedText", result) as printed:
        if context.redirected and not context.piped:
            printed.copy_to(context.out)
            return
        style = context.settings["style"] if context.colored else None

        def write(out: TextIO) -> None:
            writer = IRWriter(out, printed.mark, style)
            printed.copy_to(cast("TextIO", writer))
            writer.finish()

        if context.pages and _is_long(printed):
            page(context, write, printed.mark[0] if printed.mark else None)
        else:
            write(context.out)


def _is_long(printed: PrintedText) -> bool:
    gutter = _GUTTER if printed.mark is not None else 0
    return printed.bytes > _READ_WHOLE or fills_screen(printed.text, gutter)


def _ir_object(result: object, redirect: Redirect | None) -> object:
    printed = cast("PrintedText", result)
    if redirect is not None:  # redirected IR is not repeated
        operator, target = redirect.operator, redirect.target
        return {"target": target, "operator": operator, "bytes": printed.bytes}
    with printed:
        return {"text": printed.text, "generic": printed.generic}


def count_text(_: RenderContext, counted: Counted) -> str:
    where = "the function of the cursor" if counted.function else "the module"
    return f"{counted.count} {counted.glob} in {where}"


def block_text(context: RenderContext, block: Block) -> str:
    excerpt, at = block.excerpt, block.excerpt.current
    is_cursor = at >= 0 and excerpt.lines[at].id == block.cursor
    arrow = "-->" if is_cursor else "  >"
    return "\n".join(excerpt_text(excerpt, style_of(context), arrow))


RENDERERS = (
    Renderer(PrintedText, _show_ir, _ir_object),
    renders(Counted, count_text),
    renders(Block, block_text, fits=True),
)
