"""The process that forks the processes of kernels.

It has NumPy and the module of a loader imported, so that a kernel starts in milliseconds, and one
thread. It is the parent of all that a kernel started, so that it can wait for their end too. When
the parent ends, however that happens, its end of the socket is closed: the server then kills the
kernels and ends. If the server is killed itself, each kernel is killed by its parent's death.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import socket
import sys
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from actiondbg.kernels.execution.child import own_kilobytes, serve
from actiondbg.kernels.execution.messages import READY, START
from actiondbg.support.processes import adopt_orphans, end_with_parent


@dataclass(frozen=True)
class _Child:
    """A process of a kernel, and the socket on which its parent waits for its end."""

    pid: int
    pidfd: int
    life: socket.socket


class ForkServer:
    """Forks a process for each request, and reports how it ended."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._selector = selectors.DefaultSelector()
        self._selector.register(control, selectors.EVENT_READ)
        self._children: dict[int, _Child] = {}

    def run(self) -> None:
        """Serve requests until the parent hangs up."""
        adopt_orphans()
        self._control.send(READY)
        try:
            self._serve()
        finally:
            for pid in self._children:
                _kill_group(pid)
            self._children.clear()
            self._end_orphans()

    def _serve(self) -> None:
        while True:
            for key, _ in self._selector.select():
                child: _Child | None = key.data
                if child is None:
                    if not self._accept():
                        return
                elif child.pid not in self._children:
                    continue  # reaped by an earlier event of this round
                elif key.fd == child.pidfd:
                    self._reap(child)
                else:
                    _kill_group(child.pid)
                    self._selector.unregister(child.life)

    def _accept(self) -> bool:
        packet, descriptors, _, _ = socket.recv_fds(self._control, len(START), 3)
        if not packet:
            return False
        connection, life, output = descriptors
        pid = os.fork()
        if pid == 0:
            self._become_child(connection, life, output)
        with contextlib.suppress(OSError):
            os.setpgid(pid, pid)  # here too: the group may be killed before the child has run
        os.close(connection)
        os.close(output)
        child = _Child(pid, os.pidfd_open(pid), socket.socket(fileno=life))
        self._children[pid] = child
        self._selector.register(child.pidfd, selectors.EVENT_READ, child)
        self._selector.register(child.life, selectors.EVENT_READ, child)
        return True

    def _become_child(self, connection: int, life: int, output: int) -> None:
        status = 1
        try:
            parent = os.getppid()
            os.setpgid(0, 0)
            end_with_parent(parent)
            self._selector.close()
            self._control.close()
            for child in self._children.values():
                child.life.close()
                os.close(child.pidfd)
            os.close(life)
            os.dup2(output, 1)
            os.dup2(output, 2)
            os.close(output)
            serve(socket.socket(fileno=connection))
            status = 0
        finally:
            os._exit(status)

    def _reap(self, child: _Child) -> None:
        """Report how a child ended, after all of its group has."""
        _kill_group(child.pid)  # before it is reaped: its number cannot be another's
        _, status, usage = os.wait4(child.pid, 0)
        del self._children[child.pid]
        with contextlib.suppress(ChildProcessError):
            while True:  # the rest of the group, which is this process's now
                os.waitpid(-child.pid, 0)
        self._end_orphans()
        self._selector.unregister(child.pidfd)
        os.close(child.pidfd)
        with contextlib.suppress(KeyError):
            self._selector.unregister(child.life)
        # A fork begins with the memory of this process, which the maximum of getrusage(2) includes.
        own = own_kilobytes("VmRSS")
        grown = max(0, usage.ru_maxrss - own) << 10
        report = json.dumps([os.waitstatus_to_exitcode(status), grown])
        with contextlib.suppress(OSError):
            child.life.send(report.encode())
        child.life.close()

    def _end_orphans(self) -> None:
        """End what ended kernels have started in groups of their own."""
        while orphans := _children_of_this_process() - self._children.keys():
            for pid in orphans:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)


def _kill_group(pid: int) -> None:
    with contextlib.suppress(OSError):
        os.killpg(pid, signal.SIGKILL)


def main(control: int, module: str) -> None:
    """Run the server on an inherited socket.

    Args:
        control: the descriptor of the socket.
        module: of a loader, imported before the first fork; a child reports its errors.
    """
    with contextlib.suppress(Exception):
        import_module(module)
    with contextlib.suppress(ConnectionError):
        ForkServer(socket.socket(fileno=control)).run()
    sys.stdout = sys.stderr = None
    os._exit(0)


def _children_of_this_process() -> set[int]:
    with contextlib.suppress(FileNotFoundError):  # a system without these files
        return set(map(int, Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()))
    return set()
