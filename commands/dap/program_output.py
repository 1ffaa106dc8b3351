"""The output of the tool, as it is written."""

from __future__ import annotations

import codecs
import contextlib
import os
import select
import threading
from collections.abc import Callable
from typing import Literal

_CHUNK = 1 << 16  # bytes

Show = Callable[[Literal["stdout", "stderr"], str], None]


class ProgramOutput:
    """Pipes for the standard streams of the tool, whose content a thread shows.

    Args:
        show: takes the name of the stream, and text.

    Attributes:
        stdout: the end of a pipe for the tool.
        stderr: likewise.
    """

    def __init__(self, show: Show) -> None:
        self._show = show
        self._lock = threading.Lock()
        self._poll = select.poll()
        self._streams: dict[int, tuple[Literal["stdout", "stderr"], codecs.IncrementalDecoder]] = {}
        self._wake, self._waker = os.pipe()
        self._poll.register(self._wake, select.POLLIN)
        self.stdout, self.stderr = self._pipe("stdout"), self._pipe("stderr")
        self._thread = threading.Thread(target=self._run, daemon=True, name="dap-output")
        self._thread.start()

    def _pipe(self, name: Literal["stdout", "stderr"]) -> int:
        reader, writer = os.pipe()
        os.set_blocking(reader, False)
        self._streams[reader] = name, codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._poll.register(reader, select.POLLIN)
        return writer

    def flush(self) -> None:
        """Show all that the tool has written up to now."""
        with self._lock:
            while self._read(list(self._streams)):
                pass

    def close(self) -> None:
        """Show what the tool has written, and close the pipes."""
        os.write(self._waker, b"x")
        self._thread.join()
        self.flush()
        with self._lock:
            for reader, (name, decoder) in self._streams.items():
                if rest := decoder.decode(b"", final=True):
                    self._show(name, rest)
                os.close(reader)
            self._streams.clear()
        for each in (self.stdout, self.stderr, self._wake, self._waker):
            os.close(each)

    def _run(self) -> None:
        while True:
            ready = [number for number, _ in self._poll.poll()]
            if self._wake in ready:
                return
            with self._lock:
                self._read(ready)

    def _read(self, readers: list[int]) -> bool:
        """Show what can be read now; return whether there was anything."""
        found = False
        for reader in readers:
            name, decoder = self._streams[reader]
            chunk = b""
            with contextlib.suppress(BlockingIOError):
                chunk = os.read(reader, _CHUNK)
            if chunk:
                found = True
                if text := decoder.decode(chunk):
                    self._show(name, text)
        return found
