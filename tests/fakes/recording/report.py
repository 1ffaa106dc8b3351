"""Reports, read back from their pages."""

from __future__ import annotations

import base64
import hashlib
import json
import os
from html.parser import HTMLParser
from typing import Any

from actiondbg.recording import open_recording
from actiondbg.recording.report import report_page
from actiondbg.recording.report.overview import SIZE


class Page(HTMLParser):
    """A page, taken apart; what is opened in it has to be closed.

    ``run`` is what its scripts read, with the columns of actions as they are after decoding.
    """

    def __init__(self, text: str) -> None:
        super().__init__()
        self.source = text
        self.stack: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.texts: list[str] = []
        self.scripts: list[str] = []
        self.feed(text)
        self.close()
        assert self.stack == []
        assert len(self.scripts) == 2
        self.run: dict[str, Any] = json.loads(self.scripts[0])
        self.actions: dict[str, list[Any]] = self.run["actions"]
        for name in ("ordinal", "start"):
            self.actions[name] = _sums(self.actions[name])

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in ("meta", "input", "br"):
            self.stack.append(tag)
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.stack.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.stack and self.stack[-1] == "script":
            self.scripts[-1] += data
        elif self.stack[-1:] != ["style"]:
            self.texts.append(data)

    @property
    def text(self) -> str:
        """What stands in the page without the scripts' doing."""
        return " ".join(" ".join(self.texts).split())

    @property
    def script_hash(self) -> str:
        digest = hashlib.sha256(self.scripts[1].encode()).digest()
        return f"sha256-{base64.b64encode(digest).decode()}"

    def name(self, group: int) -> str:
        return self.run["names"][group][1]

    def word(self, place: int) -> str:
        return self.run["texts"][place] if place >= 0 else ""

    def rows(self, *path: str) -> list[dict[str, Any]]:
        """Return the rows of a table, with names and texts in the place of their numbers."""
        columns = self.run
        for name in path:
            columns = columns[name]
        rows = [
            dict(zip(columns, values, strict=True))
            for values in zip(*columns.values(), strict=True)
        ]
        for row in rows:
            for name, value in row.items():
                if name in ("group", "one", "other"):
                    row[name] = self.name(value)
                elif name in ("op", "back", "file", "function", "reason", "fold"):
                    row[name] = self.word(value)
        return rows

    def diff(self, ordinal: int) -> list[tuple[str, str | None, str | None]]:
        """Return the rows of an action's diff: kind, left and right."""
        rows = self.run["diffs"]["of"][str(ordinal)]["rows"]
        return [
            (row[0], self._line(row[1]), self._line(row[2])) if row else ("", "", "")
            for row in rows
        ]

    def _line(self, number: int) -> str | None:
        return "".join(self.run["diffs"]["lines"][number][1::2]) if number >= 0 else None


def _sums(steps: list[int]) -> list[int]:
    total, sums = 0, list[int]()
    for step in steps:
        total += step
        sums.append(total)
    return sums


def page_of(path: str | os.PathLike[str], size: float = SIZE, *, is_kept: bool = True) -> Page:
    return Page(report_page(open_recording(path), size, is_kept=is_kept).html)
