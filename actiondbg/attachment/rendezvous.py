"""The socket at which a program waits for the front end that shall debug it."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

from actiondbg.process.tool_process import peer_of

_NAME = "wait"


def wait_for_front_end(directory: Path) -> str:
    """Print how to connect, and wait for a front end; return the path of its socket.

    Args:
        directory: of mode 0700.
    """
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        path = directory / _NAME
        listener.bind(os.fspath(path))
        listener.listen(1)
        sys.stderr.write(
            f"actiondbg: process {os.getpid()} waits; debug it from another terminal with\n"
            f"  actiondbg connect {path}\n"
        )
        sys.stderr.flush()
        try:
            while True:
                connection, _ = listener.accept()
                with connection, connection.makefile("r") as lines:
                    # A front end that quits before it runs the program sends nothing.
                    if peer_of(connection)[1] == os.getuid() and (line := lines.readline()):
                        return line.rstrip("\n")
        finally:
            path.unlink(missing_ok=True)
