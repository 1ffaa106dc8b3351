"""Where clients come from: the standard streams, or a port of the loopback."""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING

from actiondbg.commands.dap.server import Server
from actiondbg.support.loopback import HOST, listen

if TYPE_CHECKING:
    from actiondbg.commands.interpreter.declaration import CommandTable


def serve_streams(reader: int, writer: int, commands: CommandTable) -> None:
    """Serve one client.

    Args:
        reader: the file descriptor of its messages; owned by this function.
        writer: that for messages to it; likewise.
        commands: the commands of the debug console.
    """
    for number in (reader, writer):
        os.set_inheritable(number, False)
    # What else reads or writes the standard streams would break the protocol.
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(2, 1)
    os.close(null)
    server = Server(commands)
    server.add_client(os.fdopen(reader, "rb"), os.fdopen(writer, "wb"))
    server.serve()


def serve_port(port: int, commands: CommandTable, announce: Callable[[str], None]) -> int:
    """Serve one client after the other, until Ctrl-C.

    Args:
        port: of the loopback; 0 for a free one.
        commands: the commands of the debug console.
        announce: takes a line with the port.

    Raises:
        UsageError: the port cannot be used.
    """
    listener, port = listen(port)
    with listener:
        announce(f"Listening on {HOST}:{port}.")
        while True:
            connection, _ = listener.accept()
            _serve_socket(connection, commands)


def _serve_socket(connection: socket.socket, commands: CommandTable) -> None:
    with connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        server = Server(commands)
        server.add_client(connection.makefile("rb"), connection.makefile("wb"))
        server.serve()
        with contextlib.suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)
