"""A log of a compiler as dumps: the output of ``--mlir-print-ir-after-all`` and its like."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import IO

from actiondbg.recording.imported.dump import (
    MARK,
    Dump,
    DumpHeader,
    is_whole,
    parse_header,
    split_ir,
)

_ERROR = re.compile(r"(?:^|: )error: (.*)")
_MOST_ERRORS = 20  # that are kept for the next dump


class LogReader:
    """Reads the dumps of a log.

    Args:
        rest: a file to which the lines are written that belong to no dump; None for none.

    Attributes:
        lines: the number of lines so far.
        rest: the number of lines that belong to no dump; empty lines are not counted.
        cut: the header of a dump that the end of the log cuts off, if there is one.
    """

    def __init__(self, rest: IO[bytes] | None = None) -> None:
        self._rest = rest
        self._errors: list[str] = []
        self.lines = 0
        self.rest = 0
        self.cut: DumpHeader | None = None

    def dumps(self, lines: Iterable[bytes]) -> Iterator[Dump]:
        """Iterate over the dumps of a log, or of a file that is a part of it."""
        header: DumpHeader | None = None
        body: list[bytes] = []
        for line in lines:
            self.lines += 1
            if MARK not in line:
                if header is None:
                    self._keep(line.decode(errors="replace"))
                else:
                    body.append(line)
                continue
            before, mark, rest = line.decode(errors="replace").partition(MARK.decode())
            body.append(before.encode())  # written by another thread, or without an end of line
            yield from self._dump(header, body)
            header, body = parse_header(mark + rest, self.lines), []
            if header is None:
                self._keep(mark + rest)
        yield from self._dump(header, body, is_last=True)

    def _dump(
        self, header: DumpHeader | None, body: list[bytes], is_last: bool = False
    ) -> Iterator[Dump]:
        text = b"".join(body).decode(errors="replace")
        if "\r" in text:
            text = text.replace("\r\n", "\n")
        ir, rest = ("", text) if header is None else split_ir(text)
        if header is not None and is_last and not is_whole(ir):
            self.cut = header
        elif header is not None:
            yield Dump(header, ir + "\n", tuple(self._errors))
            self._errors.clear()
        for line in rest.split("\n"):
            self._keep(line)

    def _keep(self, line: str) -> None:
        """Count a line that belongs to no dump, and keep an error."""
        line = line.rstrip("\r\n")
        if not line.strip():
            return
        self.rest += 1
        if self._rest is not None:
            self._rest.write(f"{line}\n".encode(errors="replace"))
        error = _ERROR.search(line)
        if error is not None and len(self._errors) < _MOST_ERRORS:
            self._errors.append(error[1])
