"""The process that judges: ``python -m actiondbg.validation.worker FD PARENT``."""

from __future__ import annotations

import contextlib
import signal
import sys
from multiprocessing.connection import Connection

from actiondbg.support.parent_death import end_with_parent
from actiondbg.validation.judge import Judge


def serve(descriptor: int, parent: int) -> None:
    """Answer queries until the other end is closed; Ctrl-C is the parent's.

    Args:
        descriptor: of a socket; the limits come first.
        parent: the number of the parent's process.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent(parent)
    connection = Connection(descriptor)
    with contextlib.suppress(EOFError):
        judge = Judge(connection.recv())
        while True:
            connection.send(judge.judge(*connection.recv()))


if __name__ == "__main__":
    serve(*map(int, sys.argv[1:]))
