"""A few lines of IR around an operation, as text and for notebooks."""

from __future__ import annotations

from actiondbg import protocol

_ARROW = "-->"
_INDENT = "  "


class Excerpt(protocol.Excerpt):
    """Consecutive lines of IR; ``print`` shows them with an arrow at the current one."""

    @property
    def text(self) -> str:
        """The lines of IR, indented."""
        return "\n".join(f"{_INDENT * line.depth}{line.text}" for line in self.lines)

    def __str__(self) -> str:
        return "\n".join(gutter + text for gutter, text in self.rows())

    def _repr_html_(self) -> str:
        from actiondbg.ir.html import notebook_page

        return notebook_page(self.rows())

    def rows(self) -> list[tuple[str, str]]:
        """Return each line with what stands left of it: the arrow, and the operation id."""
        ids = ["" if line.id is None or line.part else f"@{line.id}" for line in self.lines]
        width = max(map(len, ids), default=0)
        return [
            (
                f"{_ARROW if at == self.current else '':<3} {id:>{width}}  ",
                f"{_INDENT * line.depth}{line.text}",
            )
            for at, (line, id) in enumerate(zip(self.lines, ids, strict=True))
        ]
