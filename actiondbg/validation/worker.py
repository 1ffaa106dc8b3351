"""The process that judges: ``python -m actiondbg.validation.worker FD PARENT``."""

from __future__ import annotations

import contextlib
import signal
import sys
from functools import lru_cache
from multiprocessing.connection import Connection

from actiondbg.errors import IRNotParsed
from actiondbg.ir.bindings import IRReader
from actiondbg.support.processes import end_with_parent
from actiondbg.validation.module_judge import ModuleJudge


def serve(descriptor: int, parent: int) -> None:
    """Answer queries until the other end is closed; Ctrl-C is the parent's.

    Limits, a query and its seconds come by the socket of the descriptor.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent(parent)
    connection = Connection(descriptor)
    with contextlib.suppress(IRNotParsed):  # which the judge reports
        IRReader()  # loads the bindings, before the first query
    judge_of = lru_cache(1)(ModuleJudge)
    with contextlib.suppress(EOFError):
        while True:
            limits, query, seconds = connection.recv()
            connection.send(judge_of(limits).judge(query, seconds))


if __name__ == "__main__":
    serve(*map(int, sys.argv[1:]))
