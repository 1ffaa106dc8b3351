"""Ports of the loopback, at which servers of front ends listen."""

from __future__ import annotations

import socket

from actiondbg.errors import UsageError

HOST = "127.0.0.1"


def listen(port: int = 0) -> tuple[socket.socket, int]:
    """Listen at a port of the loopback, 0 for a free one; return the socket and the port.

    Raises:
        UsageError: the port cannot be used.
    """
    try:
        listener = socket.create_server((HOST, port))
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error).rstrip(".")
        raise UsageError(
            f"Port {port} cannot be used ({reason}): choose another, or 0 for any."
        ) from error
    return listener, listener.getsockname()[1]
