"""A client of ``actiondbg dap`` for tests: it waits for responses and events, a minute at most."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO, cast

SERVER = [sys.executable, "-m", "actiondbg", "dap"]
_SECONDS = int(os.environ.get("DAPS", "60"))

Message = dict[str, Any]


class Refused(Exception):
    """A response without success.

    Attributes:
        response: the response.
    """

    def __init__(self, response: Message) -> None:
        super().__init__(response.get("message"))
        self.response = response

    @property
    def sentence(self) -> str:
        """What the user reads."""
        return self.response["body"]["error"]["format"]


class DapClient:
    """A client over two streams.

    Args:
        reader: what the server sends.
        writer: what it gets.

    Attributes:
        events: those that nobody has waited for yet.
        output: what the tool has written, by its stream, and what the console shows.
    """

    def __init__(self, reader: BinaryIO, writer: BinaryIO) -> None:
        self._reader = reader
        self.writer = writer
        self._number = 0
        self._messages: queue.Queue[Message | None] = queue.Queue()
        self._responses: dict[int, Message] = {}
        self.events: list[Message] = []
        self.output: dict[str, str] = {"stdout": "", "stderr": "", "console": "", "important": ""}
        threading.Thread(target=self._read, daemon=True).start()

    # --- messages -------------------------------------------------------------

    def send(self, command: str, arguments: object = None) -> int:
        """Send a request; return its number."""
        self._number += 1
        message: Message = {"seq": self._number, "type": "request", "command": command}
        if arguments is not None:
            message["arguments"] = arguments
        self.send_raw(json.dumps(message).encode())
        return self._number

    def send_raw(self, content: bytes) -> None:
        """Send bytes as a message."""
        self.writer.write(b"Content-Length: %d\r\n\r\n%b" % (len(content), content))
        self.writer.flush()

    def response(self, number: int) -> Message:
        """Wait for the response to a request; raise Refused if it has no success."""
        while number not in self._responses:
            self._next()
        found = self._responses.pop(number)
        if not found["success"]:
            raise Refused(found)
        return cast("Message", found.get("body") or {})

    def request(self, command: str, arguments: object = None) -> Message:
        """Send a request, and wait for the body of its response."""
        return self.response(self.send(command, arguments))

    def event(self, name: str, condition: Callable[[Message], bool] = lambda _: True) -> Message:
        """Wait for an event; return its body. Earlier events are dropped."""
        while True:
            for at, each in enumerate(self.events):
                if each["event"] == name and condition(each.get("body") or {}):
                    del self.events[: at + 1]
                    return cast("Message", each.get("body") or {})
            self._next()

    def event_of(self, *names: str) -> Message:
        """Wait for any of some events, which is kept."""
        while not (found := [each for each in self.events if each["event"] in names]):
            self._next()
        return found[0]

    def reverse_request(self, command: str, *, succeeds: bool = True) -> Message:
        """Wait for a reverse request, and answer it; return its arguments."""
        while True:
            for each in self.events:
                if each["event"] == f"<{command}>":
                    self.events.remove(each)
                    number = {"request_seq": each["seq"], "command": command}
                    answer = {"seq": 0, "type": "response", "success": succeeds, **number}
                    self.send_raw(json.dumps(answer).encode())
                    return cast("Message", each["body"])
            self._next()

    def end(self) -> None:
        """Wait until the server closes the connection."""
        while self._next(ends=True) is not None:
            pass

    def _next(self, *, ends: bool = False) -> Message | None:
        message = self._messages.get(timeout=_SECONDS)
        if message is None:
            assert ends, f"The server has closed the connection: {self.events} {self.output}"
            return None
        if message["type"] == "response":
            self._responses[message["request_seq"]] = message
        elif message["type"] == "request":
            body = message.get("arguments")
            self.events.append({**message, "event": f"<{message['command']}>", "body": body})
        elif message["event"] == "output":
            self.output[message["body"]["category"]] += message["body"]["output"]
        else:
            self.events.append(message)
        return message

    def _read(self) -> None:
        last = 0
        try:
            while line := self._reader.readline():
                length = int(line.split(b":")[1])
                assert self._reader.readline() == b"\r\n"
                message = json.loads(self._reader.read(length))
                assert message["seq"] == last + 1, (message, last)
                last = message["seq"]
                self._messages.put(message)
        except (OSError, ValueError):
            pass
        self._messages.put(None)

    # --- sessions -------------------------------------------------------------

    def initialize(self, **more: object) -> Message:
        """Send ``initialize``; return the capabilities."""
        return self.request("initialize", {"adapterID": "actiondbg", **more})

    def launch(self, *argv: str, **configuration: object) -> None:
        """Initialize, and launch a tool, up to the time for breakpoints."""
        self.initialize(supportsProgressReporting=True)
        if argv:
            configuration |= {"tool": argv[0], "args": argv[1:]}
        self.request("launch", configuration)
        self.event("initialized")

    def run(self) -> Message:
        """End the configuration, and wait for the first stop."""
        self.request("configurationDone")
        return self.event("stopped")

    def resume(self, command: str, **arguments: object) -> Message:
        """Send a request that resumes the tool, and wait for the stop."""
        self.request(command, arguments)
        return self.event("stopped")

    def run_to_end(self, command: str = "continue") -> int:
        """Send a request that resumes the tool, and wait for its end; return the exit code."""
        self.request(command, {})
        code = self.event("exited")["exitCode"]
        self.event("terminated")
        return code

    def frames(self) -> list[Message]:
        """Return the frames of the stack."""
        return self.request("stackTrace", {"threadId": 1})["stackFrames"]

    def variables(self, scope: str, frame: int = 0) -> dict[str, Message]:
        """Return the variables of a scope of a frame, by name."""
        scopes = self.request("scopes", {"frameId": self.frames()[frame]["id"]})["scopes"]
        number = next(each["variablesReference"] for each in scopes if each["name"] == scope)
        return self.parts(number)

    def parts(self, number: int) -> dict[str, Message]:
        """Return the parts of a variable, by name."""
        found = self.request("variables", {"variablesReference": number})["variables"]
        return {each["name"]: each for each in found}

    def evaluate(self, expression: str, context: str = "repl") -> str:
        """Evaluate an expression, in the debug console by default."""
        arguments = {"expression": expression, "context": context}
        return self.request("evaluate", arguments)["result"]

    def break_at(self, *names: str) -> list[Message]:
        """Set function breakpoints, all that there are."""
        arguments = {"breakpoints": [{"name": name} for name in names]}
        return self.request("setFunctionBreakpoints", arguments)["breakpoints"]

    def break_in(self, path: str | Path, *lines: int | Message) -> list[Message]:
        """Set the breakpoints of a file."""
        wanted = [{"line": each} if isinstance(each, int) else each for each in lines]
        arguments = {"source": {"path": os.path.abspath(path)}, "breakpoints": wanted}
        return self.request("setBreakpoints", arguments)["breakpoints"]


class ServedClient(DapClient):
    """A client of a server of its own, over the standard streams of the server.

    Attributes:
        server: the process of the server.
    """

    def __init__(self, cwd: Path | None = None, environment: dict[str, str] | None = None) -> None:
        self.server = subprocess.Popen(
            SERVER,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=cwd,
            env={**os.environ, **(environment or {})},
        )
        assert self.server.stdin is not None and self.server.stdout is not None
        super().__init__(cast("BinaryIO", self.server.stdout), cast("BinaryIO", self.server.stdin))

    def disconnect(self) -> int:
        """Disconnect; return the exit status of the server."""
        self.request("disconnect", {})
        self.end()
        return self.server.wait(_SECONDS)

    def kill(self) -> None:
        """End the server, if it has not ended."""
        self.server.kill()
        self.server.wait()
        for stream in (self.server.stdin, self.server.stdout):
            with contextlib.suppress(OSError):
                cast("BinaryIO", stream).close()


def connect(port: int) -> DapClient:
    """Connect to a server at a port."""
    connection = socket.create_connection(("127.0.0.1", port))
    return DapClient(connection.makefile("rb"), connection.makefile("wb"))
