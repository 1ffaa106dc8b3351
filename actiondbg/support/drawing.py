"""Pictures as SVG, whose colours follow from the classes of their elements."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from html import escape

from actiondbg.support.html_page import Html

_SIZE = 12  # of a character
_WIDE = 0.62  # the width of a character, in units of its size


def text_width(text: str) -> float:
    """Return about how wide a text is."""
    return len(text) * _SIZE * _WIDE


class Drawing:
    """An SVG picture under construction.

    Args:
        title: of the picture.
        kind: its classes.
        style: CSS; "" where the page has that of the classes.
    """

    def __init__(self, title: str, kind: str, style: str = "") -> None:
        self._title = title
        self._kind = kind
        self._style = style
        self._parts: list[str] = []

    def rectangle(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        *,
        kind: str = "box",
        fill: str = "",
        hint: str = "",
    ) -> None:
        """Draw a rectangle.

        Args:
            x: its left side.
            y: its top.
            width: of it.
            height: of it.
            kind: its class.
            fill: its colour, for none of the class.
            hint: shown when the pointer is above it.
        """
        style = f' style="fill:{fill};stroke:none"' if fill else ""
        self._parts.append(
            f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" '
            f'height="{height:.1f}" rx="3"{style}>{_hint(hint)}</rect>'
        )

    def text(self, x: float, y: float, text: str, *, kind: str = "", anchor: str = "start") -> None:
        """Write a text; ``anchor`` is ``start``, ``middle`` or ``end``."""
        shown = f' text-anchor="{anchor}"' if anchor != "start" else ""
        named = f' class="{kind}"' if kind else ""
        self._parts.append(f'<text x="{x:.1f}" y="{y:.1f}"{named}{shown}>{escape(text)}</text>')

    def line(self, x0: float, y0: float, x1: float, y1: float, *, kind: str) -> None:
        """Draw a straight line."""
        self.path(f"M{x0:.1f},{y0:.1f}L{x1:.1f},{y1:.1f}", kind=kind)

    def circle(self, x: float, y: float, radius: float, *, kind: str) -> None:
        """Draw a circle."""
        self._parts.append(f'<circle class="{kind}" cx="{x}" cy="{y}" r="{radius}"/>')

    def path(
        self, way: str, *, kind: str, color: str = "", width: float = 0, hint: str = ""
    ) -> None:
        """Draw a path, written as SVG does; ``color`` and ``width`` replace those of its class."""
        style = f' style="stroke:{color};stroke-width:{width:.2f}"' if color else ""
        self._parts.append(f'<path class="{kind}" d="{way}"{style}>{_hint(hint)}</path>')

    @contextmanager
    def link(self, target: str, hint: str) -> Generator[None]:
        """Let what the block draws lead to a place of the page."""
        self._parts.append(f'<a href="#{target}">')
        yield
        self._parts.append(f"{_hint(hint)}</a>")

    def curve(
        self,
        x0: float,
        y0: float,
        x1: float,
        y1: float,
        *,
        kind: str = "edge",
        color: str = "",
        width: float = 0,
        hint: str = "",
    ) -> None:
        """Draw a curve that is horizontal at both ends."""
        middle = (x0 + x1) / 2
        way = f"M{x0:.1f},{y0:.1f}C{middle:.1f},{y0:.1f} {middle:.1f},{y1:.1f} {x1:.1f},{y1:.1f}"
        self.path(way, kind=kind, color=color, width=width, hint=hint)

    def loop(
        self,
        x0: float,
        y0: float,
        x1: float,
        y1: float,
        bulge: float,
        *,
        kind: str = "edge",
        hint: str = "",
    ) -> None:
        """Draw a curve to the right of two points, which it leaves and reaches from the right."""
        out = max(x0, x1) + bulge
        way = f"M{x0:.1f},{y0:.1f}C{out:.1f},{y0:.1f} {out:.1f},{y1:.1f} {x1:.1f},{y1:.1f}"
        self.path(way, kind=kind, hint=hint)

    def svg(self, width: float, height: float) -> Html:
        """Return the picture as an SVG document, which HTML may contain too."""
        style = f"<style>\n{self._style}</style>\n" if self._style else ""
        return Html(
            f'<svg xmlns="http://www.w3.org/2000/svg" class="{self._kind}" role="img" '
            f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}">\n'
            f"<title>{escape(self._title)}</title>\n{style}" + "\n".join(self._parts) + "\n</svg>\n"
        )


def _hint(text: str) -> str:
    return f"<title>{escape(text)}</title>" if text else ""
