"""A drawing as SVG: rectangles, lines and texts, in colours of light and dark settings."""

from __future__ import annotations

from html import escape

# The width of a character of the fonts, in units of their size.
_WIDE = 0.62

STYLE = """\
.lineage { background: #ffffff; font: 12px system-ui, "DejaVu Sans", sans-serif; }
.lineage .mono { font-family: ui-monospace, "DejaVu Sans Mono", Menlo, monospace; }
.lineage text { fill: #1f2328; } .lineage .quiet { fill: #59636e; }
.lineage .box { fill: #f6f8fa; stroke: #8c959f; } .lineage .end { fill: #dafbe1; stroke: #1a7f37; }
.lineage .lost { fill: #ffebe9; stroke: #cf222e; }
.lineage path { fill: none; } .lineage .edge { stroke: #57606a; stroke-width: 1.2; }
.lineage .guess { stroke-dasharray: 4 3; } .lineage .band { stroke-opacity: .4; }
@media (prefers-color-scheme: dark) {
  .lineage { background: #0d1117; }
  .lineage text { fill: #e6edf3; } .lineage .quiet { fill: #9198a1; }
  .lineage .box { fill: #161b22; stroke: #6e7681; }
  .lineage .end { fill: #12261e; stroke: #3fb950; }
  .lineage .lost { fill: #3c1618; stroke: #f85149; } .lineage .edge { stroke: #9198a1; }
}
"""


def text_width(text: str, size: float = 12) -> float:
    """Return about how wide a text is."""
    return len(text) * size * _WIDE


def shortened(text: str, most: int) -> str:
    """Return a text of at most some characters."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


class Drawing:
    """An SVG picture under construction."""

    def __init__(self) -> None:
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
        style = f' style="stroke:{color};stroke-width:{width:.2f}"' if color else ""
        way = f"M{x0:.1f},{y0:.1f}C{middle:.1f},{y0:.1f} {middle:.1f},{y1:.1f} {x1:.1f},{y1:.1f}"
        self._parts.append(f'<path class="{kind}" d="{way}"{style}>{_hint(hint)}</path>')

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
        self._parts.append(f'<path class="{kind}" d="{way}">{_hint(hint)}</path>')

    def svg(self, width: float, height: float, title: str) -> str:
        """Return the picture as an SVG document, which HTML may contain too."""
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="lineage" role="img" '
            f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}">\n'
            f"<title>{escape(title)}</title>\n<style>\n{STYLE}</style>\n"
            + "\n".join(self._parts)
            + "\n</svg>\n"
        )


def _hint(text: str) -> str:
    return f"<title>{escape(text)}</title>" if text else ""
