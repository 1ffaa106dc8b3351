"""Attaching to the MLIR inside this process: ``actiondbg.attach()``."""

from __future__ import annotations

import atexit
import os
import socket
import sys
import warnings
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, overload

from actiondbg.attachment.agent_library import AgentLibrary, load_agent
from actiondbg.attachment.observed_actions import ObservedActions
from actiondbg.errors import LaunchError, UsageError
from actiondbg.process.tool_process import peer_of
from actiondbg.recording.capture.recorder import (
    IRDetail,
    check_ir,
    create_recording,
    encoded_rules,
)
from actiondbg.support.closeable import Closeable
from actiondbg.support.scratch_directory import (
    make_scratch,
    remove_directory,
    scratch_directory,
)
from actiondbg.tool.agent_environment import bypassing_caches

if TYPE_CHECKING:
    from actiondbg.recording.recording import Recording

_open: list[Attachment] = []  # at most one: a recording is one of a process
_NAME = "wait"


class Attachment(ObservedActions, Closeable):
    """The actions that this process runs from ``attach`` up to ``close``, of all threads.

    They can be asked for at any time; after ``close`` the recording is complete. A fork of this
    process is not observed.
    """

    def __init__(self, agent: AgentLibrary, path: Path) -> None:
        super().__init__(path)
        self._agent = agent
        self._owner = os.getpid()
        self._is_open = True
        self._is_cut = False  # which was warned of
        self._variables = bypassing_caches(os.environ)
        self._outer = {name: os.environ.get(name) for name in self._variables}
        os.environ.update(self._variables)

    def __repr__(self) -> str:
        state = "open" if self.is_open else "closed"
        return f"<actiondbg.attach(): {state}, recorded in {os.fspath(self.path)!r}>"

    def recording(self) -> Recording:
        """Open the recording with all actions up to now."""
        if self.is_open and not self._agent.flush() and not self._is_cut:
            self._is_cut = True
            warnings.warn(self._missing(), stacklevel=2)
        return super().recording()

    def missing(self) -> str | None:
        if not self.is_open:
            return super().missing()
        return None if self._agent.flush() else self._missing()

    def flush(self) -> None:
        """Write what is recorded so far."""
        if self.is_open:
            self._agent.flush()

    @property
    def is_open(self) -> bool:
        """Whether actions of this process are observed."""
        return self._is_open and os.getpid() == self._owner

    def close(self) -> None:
        """Complete the recording; a second call does nothing."""
        if self.is_open:
            self._agent.end()
            _open.clear()
            for name, outer in self._outer.items():
                if os.environ.get(name) != self._variables[name]:
                    continue  # the program has set it
                if outer is None:
                    del os.environ[name]
                else:
                    os.environ[name] = outer
        self._is_open = False


@overload
def attach(
    record: str | os.PathLike[str] | None = None,
    *,
    ir: IRDetail = "none",
    skip: Sequence[str] = (),
    wait: Literal[False] = False,
) -> Attachment: ...


@overload
def attach(*, wait: Literal[True]) -> None: ...


def attach(
    record: str | os.PathLike[str] | None = None,
    *,
    ir: IRDetail = "none",
    skip: Sequence[str] = (),
    wait: bool = False,
) -> Attachment | None:
    """Observe the MLIR that this process uses: Triton, JAX, torch-mlir, the MLIR bindings.

    Args:
        record: the path of a recording that is kept; an existing recording is replaced. None for
            a temporary one.
        ir: the IR to record, as ``actiondbg record --ir``.
        skip: SPECs, each with ``if EXPR`` or without, of actions to skip.
        wait: debug instead: print the command ``actiondbg connect SOCKET``, and wait until it runs
            in another terminal. It stops this process from the next MLIR context on.

    Returns:
        The actions, as they happen. ``close`` or the end of its ``with`` block ends the
        observation. None with ``wait``.

    Raises:
        LaunchError: the agent cannot be compiled or loaded, or the file cannot be written.
        UsageError: this process is attached already, was started by actiondbg, ``record``
            exists and is not a recording, or ``ir`` or ``skip`` is wrong.
    """
    if any(each.is_open for each in _open):
        raise UsageError(
            "This process is attached already: close the first attachment, or leave its block."
        )
    agent = load_agent()
    agent.prepare()
    if wait:
        _wait(agent)
        return None
    check_ir(ir)
    skips = encoded_rules(skip) if skip else ""
    scratch: Path | None = None
    if record is None:
        scratch = make_scratch("attach")
        path = scratch / "attached.adbrec"
    else:
        path = create_recording(record)
    try:
        agent.begin(path, ir, skips)
    except LaunchError:
        if scratch is not None:
            remove_directory(scratch)
        raise
    attachment = Attachment(agent, path)
    if scratch is not None:
        weakref.finalize(attachment, _remove, scratch, os.getpid())
    # A program need not keep the result.
    _open[:] = [attachment]
    _flush_with_worker()
    return attachment


_flushed_with_worker: list[int] = []  # the process that does so, at most


@atexit.register
def _flush() -> None:
    """Write what is recorded: after an uncaught KeyboardInterrupt Python kills itself."""
    for each in _open:
        each.flush()


def _flush_with_worker() -> None:
    """Do so at the end of a worker of multiprocessing, too, which skips the exit of Python."""
    util = sys.modules.get("multiprocessing.util")
    if util is not None and _flushed_with_worker != [os.getpid()]:  # a fork forgets it
        _flushed_with_worker[:] = [os.getpid()]
        util.Finalize(None, _flush, exitpriority=0)


def _wait(agent: AgentLibrary) -> None:
    """Wait until a front end connects."""
    with scratch_directory("attach") as directory:
        agent.connect(wait_for_front_end(directory))
    os.environ.update(bypassing_caches(os.environ))


def _remove(scratch: Path, owner: int) -> None:
    """Remove a temporary recording, unless this process is a fork."""
    if os.getpid() == owner:
        remove_directory(scratch)


def wait_for_front_end(directory: Path) -> str:
    """Print how to connect, and wait in a private folder; return the socket of the front end."""
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
