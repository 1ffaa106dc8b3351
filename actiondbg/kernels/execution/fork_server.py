"""The process that forks the processes of kernels, and what one of these does.

It has NumPy and the module of a loader imported, so that a kernel starts in milliseconds, and one
thread. It is the parent of all that a kernel started, so that it can wait for their end too. When
the parent ends, however that happens, its end of the socket is closed: the server then kills the
kernels and ends. If the server is killed itself, each kernel is killed by its parent's death.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import itertools
import json
import os
import pickle
import resource
import selectors
import signal
import socket
import sys
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import cast

import numpy

from actiondbg.errors import ActiondbgError
from actiondbg.kernels.errors import NotRunnable
from actiondbg.kernels.execution.buffers import (
    FILLS,
    GuardedBuffer,
    receive,
    release,
    share,
    watch,
)
from actiondbg.kernels.execution.kernel import (
    PACKET,
    READY,
    START,
    KernelBinary,
    LoadedKernel,
    Problem,
    Reply,
    Request,
    TimedCall,
)
from actiondbg.statistics.event_probe import EventGroup
from actiondbg.statistics.events import CountableEvent
from actiondbg.support.processes import adopt_orphans, end_with_parent

_M_PERTURB = -6  # of mallopt
_PERTURBED = 0x1FF  # glibc fills with the complement of the lowest byte, if the number is not 0
_OUTPUT = 64 << 20  # bytes of standard output and error


def serve(connection: socket.socket) -> None:
    """Load the kernel of the first request, and serve further ones until the parent hangs up."""
    kernel: _Kernel | None = None
    while True:
        packet, descriptors, _, _ = socket.recv_fds(connection, PACKET, 1)
        if not packet:
            return
        request = cast(Request, pickle.loads(packet))
        result: numpy.ndarray | None = None
        try:
            if request.kind == "open":
                kernel, reply = _open(request), Reply()
            else:
                assert kernel is not None
                reply, result = kernel.serve(request, descriptors)
        except Exception as error:
            reply = Reply(*_problem(error, request.kind == "open"))
        if result is None:
            connection.send(reply.encode())
            continue
        descriptor = share([result])
        socket.send_fds(connection, [reply.encode()], [descriptor])
        os.close(descriptor)


class _Kernel:
    """A loaded kernel, and the operands that are kept for measurements."""

    def __init__(self, binary: KernelBinary, loaded: LoadedKernel) -> None:
        self._binary = binary
        self._loaded = loaded
        self._inputs: Sequence[numpy.ndarray] = ()
        self._groups: dict[tuple[CountableEvent, ...], EventGroup] = {}
        self._fills = itertools.cycle(FILLS)

    def serve(self, request: Request, descriptors: list[int]) -> tuple[Reply, numpy.ndarray | None]:
        if request.kind == "run":
            self._inputs = ()  # the memory limit leaves room for one set of operands
            return self._run(receive(descriptors[0], self._binary.inputs))
        if request.kind == "load":
            # Copies of NumPy's own: these get huge pages, as any other program's would.
            self._inputs = [each.copy() for each in receive(descriptors[0], self._binary.inputs)]
            return Reply(), None
        if request.kind == "time":
            return self._time(request.calls), None
        if request.kind == "count":
            return self._count(request.calls, request.events), None
        loaded: object = self._loaded
        is_timed = isinstance(loaded, TimedCall)
        return Reply(seconds=loaded.call_seconds(self._inputs) if is_timed else None), None

    def _count(self, calls: int, events: tuple[CountableEvent, ...]) -> Reply:
        """Count events during calls; none if the kernel does not run in this thread."""
        if not getattr(self._loaded, "runs_in_this_thread", False):
            return Reply()
        group = self._groups.get(events) or EventGroup(events)
        self._groups[events] = group
        once, twice = (
            group.count(lambda number=number: self._loaded.time(self._inputs, number))
            for number in (calls, 2 * calls)
        )
        # Without what prepares the calls, such as the memory of the result.
        counts = (max(0, more - less) for more, less in zip(twice, once, strict=True))
        return Reply(counts=tuple(counts))

    def _run(self, given: Sequence[numpy.ndarray]) -> tuple[Reply, numpy.ndarray | None]:
        inputs = [GuardedBuffer(tensor) for tensor in self._binary.inputs]
        for buffer, array in zip(inputs, given, strict=True):
            buffer.array[...] = array
            watch(buffer)
        try:
            with _filled_allocations(next(self._fills)):
                result = self._loaded.run([buffer.array for buffer in inputs])
        finally:
            damage = release()
        for buffer, array in zip(inputs, given, strict=True):
            if not damage and buffer.array.tobytes() != array.tobytes():
                damage = f"The kernel wrote into its operand {buffer.tensor.name}."
        if damage:
            return Reply("bounds", damage), None
        expected = self._binary.result
        if result.shape != expected.shape or result.dtype != expected.type.dtype:
            got = f"{result.dtype} of shape {result.shape}"
            return Reply("error", f"The loaded kernel returned {got} for {expected.mlir}."), None
        return Reply(), result

    def _time(self, calls: int) -> Reply:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw
        seconds = self._loaded.time(self._inputs, calls)
        switches = resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw - before
        return Reply(seconds=float(seconds), switches=switches)


def _open(request: Request) -> _Kernel:
    binary = request.binary
    assert binary is not None  # it is the request to open it
    _limit(request.memory, binary.result.bytes)
    module, _, function = binary.loader.partition(":")
    load = cast(Callable[[KernelBinary], LoadedKernel], getattr(import_module(module), function))
    return _Kernel(binary, load(binary))


@contextlib.contextmanager
def _filled_allocations(byte: int) -> Generator[None]:
    """Fill what the C library allocates meanwhile.

    Fresh memory is zero by chance: a kernel that reads what it did not write would be right. But
    a small block of the thread's cache is reused as it is; see KernelProcess.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # of glibc
    if mallopt is None:
        yield
        return
    mallopt(_M_PERTURB, byte ^ _PERTURBED)
    try:
        yield
    finally:
        mallopt(_M_PERTURB, 0)


def _limit(memory: int | None, result: int) -> None:
    """Limit what the kernel may allocate and write.

    RLIMIT_DATA counts what is private and writable; RLIMIT_AS would count what OpenBLAS, IREE and
    the allocator only reserve.
    """
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # Counted as a file: the shared memory of the result, and what is printed.
    written = max(_OUTPUT, 2 * result)
    resource.setrlimit(resource.RLIMIT_FSIZE, (written, written))
    if memory is not None:
        limit = (own_kilobytes("VmData") << 10) + memory
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))


def own_kilobytes(field: str) -> int:
    """Return a size of this process in kB, such as VmRSS; see proc(5)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{field}:"))


def _problem(error: Exception, loading: bool) -> tuple[Problem, str]:
    if isinstance(error, MemoryError) or (
        isinstance(error, OSError) and error.errno == errno.ENOMEM
    ):
        return "memory", ""
    if isinstance(error, ModuleNotFoundError) and loading:
        needed = f"Running this kernel needs the Python module {error.name}, which is missing."
        return "not runnable", needed
    if isinstance(error, NotRunnable):
        return "not runnable", str(error)
    text = str(error) if isinstance(error, ActiondbgError) else f"{type(error).__name__}: {error}"
    return "loader" if loading else "error", text


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
        children = Path(f"/proc/self/task/{os.getpid()}/children")
        # Some systems lack this file.
        while children.exists() and (
            orphans := set(map(int, children.read_text().split())) - self._children.keys()
        ):
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
