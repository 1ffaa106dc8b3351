"""The real front end as a child process: one JSON answer for each command line."""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.paths import COMMAND
from tests.walks.case import OUT, Case

Answer = dict[str, Any]

_SECONDS = 120.0  # for an answer


class Broken(Exception):
    """A property that does not hold.

    Attributes:
        kind: of the failure, the same for the same fault.
    """

    def __init__(self, kind: str, detail: str) -> None:
        super().__init__(f"{kind}: {detail}")
        self.kind = kind


class FrontEnd:
    """A session of ``actiondbg --json``, whose lines come from a pipe; close it.

    Args:
        case: what is debugged.
        folder: the working directory, with the input.
        editor: the command that ``edit-ir`` runs.
        command: the front end.
    """

    def __init__(
        self, case: Case, folder: Path, *, editor: str, command: Sequence[str] = (COMMAND,)
    ) -> None:
        self.folder = folder
        self.errors = folder / "stderr.txt"
        redirect = ["--tool-stdout", OUT] if case.output == "stdout" else []
        argv = [*command, "--json", "-nx", *redirect, "--", *case.argv()]
        environment = {**os.environ, "VISUAL": editor, "XDG_STATE_HOME": str(folder / "state")}
        with self.errors.open("wb") as errors:
            self._process = subprocess.Popen(
                argv,
                cwd=folder,
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                start_new_session=True,
            )
        self._rest = b""

    def ask(self, line: str) -> Answer:
        """Run a command line; return the answer.

        Raises:
            Broken: the session ended, or an internal error or something unreadable came.
        """
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(line.encode() + b"\n")
            self._process.stdin.flush()
            text = self._line()
        except BrokenPipeError:
            text = b""
        if not text:
            raise Broken("a command ended the session", f"{line!r}: {self.said()[-2000:]}")
        answer: Answer = json.loads(text)
        if answer.get("command") != line:
            raise Broken("an answer to another command", f"{line!r} got {answer}")
        if "report" in answer:
            report = Path(answer["report"] or "/dev/null").read_text()
            last = report.rstrip().rpartition("\n")[2]
            raise Broken(f"internal error {last}", f"{line!r}: {report[-3000:]}")
        return answer

    def _line(self) -> bytes:
        assert self._process.stdout is not None
        out = self._process.stdout.fileno()
        while b"\n" not in self._rest:
            if not select.select([out], [], [], _SECONDS)[0]:
                raise Broken("no answer", f"in {_SECONDS} s")
            chunk = os.read(out, 1 << 16)
            if not chunk:
                return b""
            self._rest += chunk
        line, _, self._rest = self._rest.partition(b"\n")
        return line

    def said(self) -> str:
        """What it, and a tool without a redirection, wrote to stderr so far."""
        return self.errors.read_text(errors="replace")

    def close(self) -> int:
        """End the session as the end of its input does; return its status."""
        assert self._process.stdin is not None and self._process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        try:
            status = self._process.wait(_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            raise Broken("the session does not end", self.said()[-2000:]) from None
        finally:
            self._process.stdout.close()
        return status

    def kill(self) -> None:
        """End the session at once."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with contextlib.suppress(BrokenPipeError):
                    stream.close()
