"""Styles of text on a terminal, as codes of escape sequences."""

from __future__ import annotations

BOLD, DIM = "1", "2"
RED, GREEN, YELLOW = "31", "32", "33"


def styled(text: str, style: str) -> str:
    """Return a text with the escape sequences of a style around it."""
    return f"\x1b[{style}m{text}\x1b[0m" if text else text
