"""The process of one kernel: loads it, and serves the requests of its KernelProcess."""

from __future__ import annotations

import ctypes
import errno
import os
import pickle
import resource
import socket
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import cast

import numpy

from actiondbg.errors import ActiondbgError
from actiondbg.kernels.errors import NotRunnable
from actiondbg.kernels.execution.buffers import GuardedBuffer, release, watch
from actiondbg.kernels.execution.kernel import KernelBinary, LoadedKernel, TimedCall
from actiondbg.kernels.execution.messages import (
    PACKET,
    Count,
    Load,
    Open,
    Problem,
    Reply,
    Request,
    Run,
    Time,
    TimeCall,
)
from actiondbg.kernels.execution.shared_arrays import receive, share
from actiondbg.statistics.event_probe import EventGroup
from actiondbg.statistics.events import Event

_M_PERTURB = -6  # of mallopt
_ALLOCATED = 0x5A  # its complement, 0xA5, is what memory holds then
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
            if isinstance(request, Open):
                kernel = _open(request)
                reply = Reply()
            else:
                assert kernel is not None
                reply, result = kernel.serve(request, descriptors)
        except Exception as error:
            reply = Reply(*_problem(error, isinstance(request, Open)))
        _send(connection, reply, result)


class _Kernel:
    """A loaded kernel, and the operands that are kept for measurements."""

    def __init__(self, binary: KernelBinary, loaded: LoadedKernel) -> None:
        self._binary = binary
        self._loaded = loaded
        self._inputs: Sequence[numpy.ndarray] = ()
        self._groups: dict[tuple[Event, ...], EventGroup] = {}

    def serve(
        self, request: Run | Load | Time | TimeCall | Count, descriptors: list[int]
    ) -> tuple[Reply, numpy.ndarray | None]:
        match request:
            case Run():
                return self._run(receive(descriptors[0], self._binary.inputs))
            case Load():
                # Copies of NumPy's own: these get huge pages, as any other program's would.
                self._inputs = [
                    each.copy() for each in receive(descriptors[0], self._binary.inputs)
                ]
                return Reply(), None
            case Time(calls):
                return self._time(calls), None
            case TimeCall():
                loaded: object = self._loaded
                is_timed = isinstance(loaded, TimedCall)
                return Reply(seconds=loaded.call_seconds(self._inputs) if is_timed else None), None

            case Count(calls, events):
                return self._count(calls, events), None

    def _count(self, calls: int, events: tuple[Event, ...]) -> Reply:
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
        _fill_allocations(_ALLOCATED)
        try:
            result = self._loaded.run([buffer.array for buffer in inputs])
        finally:
            _fill_allocations(0)
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


def _open(request: Open) -> _Kernel:
    binary = request.binary
    _limit(request.memory, binary.result.bytes)
    module, _, function = binary.loader.partition(":")
    load = cast(Callable[[KernelBinary], LoadedKernel], getattr(import_module(module), function))
    return _Kernel(binary, load(binary))


def _fill_allocations(byte: int) -> None:
    """Fill what the C library allocates from now on, or leave it as it is for 0.

    Fresh memory is zero by chance: a kernel that reads what it did not write would be right.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # of glibc
    if mallopt is not None:
        mallopt(_M_PERTURB, byte)


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


def _send(connection: socket.socket, reply: Reply, result: numpy.ndarray | None) -> None:
    if result is None:
        connection.send(reply.encode())
        return
    descriptor = share([result])
    socket.send_fds(connection, [reply.encode()], [descriptor])
    os.close(descriptor)
