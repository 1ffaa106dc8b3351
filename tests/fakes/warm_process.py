"""A process that has imported the command line, and forks for each command line that it is sent.

``python -m tests.fakes.warm_process FD`` serves a socket: an object of JSON with the descriptors of
the standard streams is answered with the exit status.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import socket
import sys
import tempfile
import threading
import time
from importlib import import_module
from io import TextIOWrapper
from typing import Any

from actiondbg.__main__ import main
from actiondbg.commands import SUBCOMMANDS
from tests.paths import COMMAND

STREAMS = ("stdin", "stdout", "stderr")
REQUEST_BYTES = 1 << 17
# What commands import late.
_LIBRARIES = (
    "actiondbg.commands.cli.debug",
    "actiondbg.commands.shell",
    "actiondbg.recording.query.database",
    "actiondbg.recording.report.page",
    "actiondbg.commands.render.terminal.output",
    "actiondbg.commands.interpreter.error_text",
    "cmd2",
    "rich.console",
)


def serve(connection: socket.socket) -> None:
    """Run command lines until the connection is closed."""
    import_main_modules()
    gc.freeze()
    while True:
        text, streams, _, _ = socket.recv_fds(connection, REQUEST_BYTES, len(STREAMS))
        if not text:
            return
        child = os.fork()
        if child == 0:
            connection.close()
            os._exit(_run(json.loads(text), streams))
        for number in streams:
            os.close(number)
        connection.send(b"%d" % child)
        _, status = os.waitpid(child, 0)
        connection.send(b"%d" % os.waitstatus_to_exitcode(status))


def import_main_modules() -> None:
    """Import what most commands do."""
    for name in {*(place.partition(":")[0] for place in SUBCOMMANDS.values()), *_LIBRARIES}:
        import_module(name)


def _run(request: dict[str, Any], streams: list[int]) -> int:
    """Become the process of a command line; return its exit code."""
    os.environ.clear()
    os.environ.update(request["env"])
    _take_streams(streams)
    os.chdir(request["cwd"])
    time.tzset()
    tempfile.tempdir = None  # of our environment
    own = sys.modules["__main__"]
    own.__spec__, own.__file__ = None, COMMAND  # for the processes of pools
    sys.argv = [COMMAND, *request["words"]]
    try:
        code = main()
    except SystemExit as leaving:
        code = leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
    # As the interpreter ends, without the release of all modules.
    threading._shutdown()  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    return code


def _take_streams(streams: list[int]) -> None:
    """Open the standard streams as Python does."""
    unbuffered = "PYTHONUNBUFFERED" in os.environ
    for number, (name, given) in enumerate(zip(STREAMS, streams, strict=True)):
        own: TextIOWrapper = getattr(sys, name)
        os.dup2(given, number)
        size = 0 if number and unbuffered else -1
        file = os.fdopen(number, "wb" if number else "rb", size, closefd=False)
        new = TextIOWrapper(file, own.encoding, own.errors, None, own is sys.stderr, unbuffered)
        setattr(sys, name, new)
    for given in streams:
        os.close(given)


if __name__ == "__main__":
    with socket.socket(fileno=int(sys.argv[1])) as opened:
        serve(opened)
