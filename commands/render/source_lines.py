"""The text of source lines: those around a location, and the one beside a stop."""

from __future__ import annotations

from actiondbg.commands.render.renderer import RenderContext, renders
from actiondbg.commands.render.terminal.styles import BOLD, styled
from actiondbg.errors import NoSuchUnit
from actiondbg.support.source_file import SourceLines, lines_around

_PROGRAM = ".py"  # of which the IR shows less than the source


def source_text(context: RenderContext, source: SourceLines) -> str:
    """Return the lines with their numbers; --> marks that of the location."""
    width = len(str(source.first + len(source.lines)))
    rows: list[str] = []
    for number, text in enumerate(source.lines, source.first):
        mark = "-->" if number == source.line else "   "
        row = f"{mark} {number:>{width}}  {text}".rstrip()
        rows.append(styled(row, BOLD) if context.colored and number == source.line else row)
    return "\n".join([f"{source.file}:", *rows])


def program_line(location: str | None) -> list[str]:
    """Return the line of a Python program at a stop; nothing for any other file."""
    if location is None or not location.rsplit(":", 2)[0].endswith(_PROGRAM):
        return []
    try:
        found = lines_around(location, 0)
    except NoSuchUnit:
        return []  # the program may be elsewhere, or have no file
    return [f"  {found.line}: {found.lines[0].strip()}"]


RENDERERS = (renders(SourceLines, source_text, fits=True),)
