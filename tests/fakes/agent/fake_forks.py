"""The forks of the fake agent, and their files. Imports nothing of the package."""

from __future__ import annotations

import os
import socket
import sys
import time
from abc import abstractmethod
from typing import Any

from fake_answers import Answers


class ForkAnswers(Answers):
    """Answers ``fork``, and makes automatic checkpoints: one before each action, if requested."""

    _socket: socket.socket
    _file: Any
    _role = "tool"
    _checkpoints = ""  # the socket that they connect to

    @abstractmethod
    def serve(self) -> None:
        """Send hello, and answer until the last action has ended."""

    def place(self) -> dict[str, Any]:
        """Return the position, as hello has it."""
        if self._at < 0:
            return {"ordinal": 0, "event": 0, "when": None}
        when, action = self._events[self._at]
        return {"ordinal": action[0], "event": self._at + 1, "when": when}

    def _options_set(self, params: dict[str, Any]) -> dict[str, Any]:
        wanted = params.get("checkpoints")
        if wanted is not None:
            self._checkpoints = wanted["socket"] if wanted["milliseconds"] else ""
        return super()._options_set(params)

    def _fork(self, params: dict[str, Any]) -> dict[str, Any]:
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            grandchild = os.fork()
            if grandchild:
                os.write(writing, str(grandchild).encode())
                os._exit(0)
            os.close(writing)
            os.setpgid(0, 0)
            self._be_fork(params)
        os.close(writing)
        os.waitpid(child, 0)
        with os.fdopen(reading) as pipe:
            return {"pid": int(pipe.read(20))}

    def _take_checkpoint(self) -> None:
        """Take one before the next event, if that begins an action."""
        coming = self._events[self._at + 1 : self._at + 2]
        if self._checkpoints and self._role == "tool" and coming and coming[0][0] == "before":
            self._fork({"role": "checkpoint", "socket": self._checkpoints, "automatic": True})

    def _be_fork(self, params: dict[str, Any]) -> None:
        self._role = params["role"]
        self._redirect(params)
        self._file.close()
        self._socket.close()
        if self._options.fork == "silent":
            time.sleep(60)
        if self._options.fork == "dies":
            os._exit(1)
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        status = 9
        try:
            self._socket.connect(params["socket"])
            self._file = self._socket.makefile("rb")
            if params.get("automatic"):
                last = max((one[1][0] for one in self._events[: self._at + 1]), default=0)
                self.place = lambda: {"ordinal": last, "event": self._at + 1, "when": None}
            self.serve()
            os.write(2, b"the fake's last words\n")
            status = self._options.exit
        finally:
            os._exit(status)

    def _redirect(self, params: dict[str, Any]) -> None:
        for fd, name in ((1, "stdout"), (2, "stderr")):
            path = os.devnull if self._role == "replica" else params.get(name)
            if path is None:
                continue
            sys.stdout.flush()
            file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            if fd == 1:  # what had been written so far
                os.write(file, self._options.print.encode())
            os.dup2(file, fd)
            os.close(file)
