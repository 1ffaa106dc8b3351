"""Child sessions: an editor starts a client of its own for each process of a program."""

from __future__ import annotations

import contextlib
import secrets
import shlex
import socket
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from actiondbg.commands.dap.protocol.events import StartDebuggingRequestArguments
from actiondbg.errors import UsageError
from actiondbg.support.loopback import listen

if TYPE_CHECKING:
    from actiondbg.commands.dap.client import Client
    from actiondbg.process.program_run import FollowedProcess

_PATIENCE_SECONDS = 15.0  # for an editor to start a child session


class ChildSessions:
    """The clients of the processes of a program, beside the client that has started it.

    The first client has the first process, and each process for which the editor starts no child
    session.

    Args:
        accept: begins to serve a connection of a child.
        give_up: called in a thread, if an editor starts no session for a process.
    """

    def __init__(
        self, accept: Callable[[socket.socket], None], give_up: Callable[[str], None]
    ) -> None:
        self._accept = accept
        self._give_up = give_up
        self._listener: socket.socket | None = None
        self._token = secrets.token_hex(16)
        self._clients: dict[str, Client] = {}
        self._first: str | None = None
        self._offered: dict[str, threading.Timer] = {}
        self._without = set[str]()  # processes of the first client

    def owner(self, root: Client, process: FollowedProcess) -> Client | None:
        """Return the client of a process; None if an editor is asked to start one."""
        name = process.name
        self._first = self._first or name
        if name in self._clients:
            return self._clients[name]
        can_start = root.info.supports_start_debugging_request
        if name == self._first or name in self._without or not can_start:
            return root
        if name not in self._offered:
            self._offer(root, process)
        return None

    def adopt(self, client: Client, process: str, token: str | None) -> None:
        """Assign a process to a client.

        Raises:
            UsageError: the token is wrong, or the editor was not asked to start a session for the
                process.
        """
        if token is None or not secrets.compare_digest(token, self._token):
            raise UsageError("The token of the child session is wrong.")
        timer = self._offered.get(process)
        if timer is None or process in self._clients:
            raise UsageError(f"There is no process {process!r} without a session.")
        timer.cancel()
        self._clients[process] = client
        client.process = process

    def is_offered(self, process: str) -> bool:
        """Whether an editor was asked to start a session for a process."""
        return process in self._offered

    def leave(self, process: str) -> None:
        """Give a process to the first client."""
        self._without.add(process)
        if process in self._offered:
            self._offered[process].cancel()
        self._clients.pop(process, None)

    def ended(self, processes: list[FollowedProcess]) -> list[tuple[Client, int]]:
        """Return the clients of processes that have ended, with the statuses; once."""
        found: list[tuple[Client, int]] = []
        for each in processes:
            if each.state == "exited" and each.name in self._clients:
                found.append((self._clients.pop(each.name), each.status or 0))
                self._without.add(each.name)
        return found

    def close(self) -> None:
        """Accept no more clients."""
        for each in self._offered.values():
            each.cancel()
        if self._listener is not None:
            with contextlib.suppress(OSError):
                self._listener.shutdown(socket.SHUT_RDWR)
            self._listener.close()

    def _offer(self, root: Client, process: FollowedProcess) -> None:
        name = process.name
        self._offered[name] = threading.Timer(_PATIENCE_SECONDS, self._give_up, (name,))
        self._offered[name].daemon = True
        self._offered[name].start()
        configuration: dict[str, object] = {
            "type": "actiondbg",
            "request": "attach",
            "name": f"{name}: {shlex.join(process.command)}",
            "process": name,
            "token": self._token,
            "debugServer": self._listen(),
        }
        arguments = StartDebuggingRequestArguments(configuration=configuration, request="attach")
        root.connection.send_request("startDebugging", arguments)

    def _listen(self) -> int:
        if self._listener is None:
            self._listener, _ = listen()
            threading.Thread(target=self._serve, args=(self._listener,), daemon=True).start()
        port: int = self._listener.getsockname()[1]
        return port

    def _serve(self, listener: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = listener.accept()
                self._accept(connection)
