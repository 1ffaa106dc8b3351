"""Kernels in processes of their own, with limits of time and memory, and the servers of these."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import pickle
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple, cast

from actiondbg.kernels.errors import (
    KernelCrashed,
    KernelError,
    KernelOutOfMemory,
    KernelTimedOut,
    LoaderFailed,
    NotRunnable,
    WroteOutOfBounds,
)
from actiondbg.kernels.execution.buffers import receive, share
from actiondbg.kernels.execution.kernel import (
    PACKET,
    START,
    KernelBinary,
    Problem,
    Reply,
    Request,
    decode_reply,
)
from actiondbg.kernels.packages import np
from actiondbg.statistics.events import CountableEvent
from actiondbg.support.closeable import Closeable
from actiondbg.support.interrupts import signal_name

_START_SECONDS = 120.0
_END_SECONDS = 5.0

# The parent's path: a user's loader may be in the folder of a script.
_PROGRAM = (
    "import sys; sys.path[:] = sys.argv[3:]; "
    "from actiondbg.kernels.execution.fork_server import main; "
    "main(int(sys.argv[1]), sys.argv[2])"
)
_ERRORS: dict[Problem, type[KernelError]] = {
    "not runnable": NotRunnable,
    "bounds": WroteOutOfBounds,
    "loader": LoaderFailed,
    "error": KernelCrashed,
}
_NO_MEMORY = ("bad_alloc", "out of memory", "cannot allocate memory")
# Of the limit: what a kernel had at least when an allocation failed, whose size is unknown.
_LARGE_PART = 0.5
_TUNABLES, _NO_THREAD_CACHE = "GLIBC_TUNABLES", "glibc.malloc.tcache_count=0"
_TAIL_BYTES = 2000
_TAIL_LINES = 3


class _Server(NamedTuple):
    """A running fork server, and the socket on which it is asked to fork."""

    socket: socket.socket
    process: subprocess.Popen[bytes]

    def close(self) -> None:
        """End the server and the processes that it started."""
        self.socket.close()
        try:
            self.process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def _started(module: str, caches: bool) -> _Server:
    """Start a server, and wait until it has imported the module of a loader.

    Args:
        caches: see KernelProcess.

    Raises:
        LoaderFailed: it ended meanwhile, or took too long.
    """
    # Threads of a BLAS would not survive the fork.
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    if not caches:
        given = filter(None, (os.environ.get(_TUNABLES), _NO_THREAD_CACHE))
        environment[_TUNABLES] = ":".join(given)
    own, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with other:
        process = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM, str(other.fileno()), module, *sys.path],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=[other.fileno()],
            env=environment,
            process_group=0,  # Ctrl-C is the parent's
        )
    server = _Server(own, process)
    try:
        if not _wait(own, time.monotonic() + _START_SECONDS):
            raise LoaderFailed(f"Importing the loader's module {module} took too long.")
        if not own.recv(16):
            raise LoaderFailed(
                f"Python ended with status {process.wait()} while it imported the loader's module "
                f"{module}."
            )
    except BaseException:
        server.close()
        raise
    return server


class ServerPool:
    """The fork servers of this program, by the module of the loader and the use of caches."""

    def __init__(self) -> None:
        self._servers: dict[tuple[str, bool], _Server] = {}
        self._lock = threading.Lock()

    def fork(
        self, key: tuple[str, bool], connection: socket.socket, life: socket.socket, output: int
    ) -> None:
        """Start the process of a kernel, and a server first if there is none.

        Args:
            key: the module of the loader, and whether the process caches what it frees.

        Raises:
            LoaderFailed: the server cannot be started.
        """
        descriptors = [connection.fileno(), life.fileno(), output]
        with self._lock:
            server = self._servers.get(key)
            if server is not None:
                with contextlib.suppress(OSError):
                    socket.send_fds(server.socket, [START], descriptors)
                    return
                self._servers.pop(key).close()  # something killed it
            server = self._servers[key] = _started(*key)
            socket.send_fds(server.socket, [START], descriptors)

    def close(self) -> None:
        """End the servers; the next kernel starts one again."""
        with self._lock:
            while self._servers:
                self._servers.popitem()[1].close()

    def forget(self) -> None:
        """Leave the servers to the parent, in a process that is a fork of it."""
        self._lock = threading.Lock()
        while self._servers:
            self._servers.popitem()[1].socket.close()


SERVERS = ServerPool()
atexit.register(SERVERS.close)
os.register_at_fork(after_in_child=SERVERS.forget)


class KernelProcess(Closeable):
    """A kernel in a process of its own.

    The kernel is loaded at once. After an error in a request the process has ended, unless it was
    an error that a loader raised. The process does not outlive this one, and prints nothing.
    A request raises KernelError if the kernel crashed, took too long, needed too much memory or
    wrote outside of its result.

    Args:
        seconds: the limit of each request, loading included.
        memory: the limit in bytes of what the kernel and its operands need, or None.
        caches: whether glibc reuses small blocks as they are. It is faster, but a kernel that reads
            what it did not write into such a block may find what makes it right.

    Raises:
        LoaderFailed: the loader cannot load it.
        NotRunnable: there is no device for it.
        KernelError: loading crashed, took too long or needed too much memory.
    """

    def __init__(
        self,
        binary: KernelBinary,
        *,
        seconds: float = 60.0,
        memory: int | None = None,
        caches: bool = True,
    ) -> None:
        self._binary = replace(binary, path=binary.path.absolute())
        self._seconds = seconds
        self._memory = memory
        self._connection, connection = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._life, life = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._output = os.memfd_create("actiondbg-kernel-output")
        self._closed = False
        try:
            with connection, life:
                module = binary.loader.partition(":")[0]
                SERVERS.fork((module, caches), connection, life, self._output)
            self._ask(Request("open", binary=self._binary, memory=memory))
        except BaseException:
            self.close()
            raise

    def run(self, inputs: Sequence[np.ndarray]) -> np.ndarray:
        """Return the result of a call, for arrays of the operands' shapes and types.

        The operands of ``load`` are forgotten.
        """
        descriptors = self._ask(Request("run"), inputs)[1]
        return receive(descriptors[0], [self._binary.result])[0]

    def load(self, inputs: Sequence[np.ndarray]) -> None:
        """Keep operands in the process, for ``time``."""
        self._ask(Request("load"), inputs)

    def time(self, calls: int) -> tuple[float, int]:
        """Measure calls of the kernel with the operands of ``load``.

        Returns:
            The seconds of all calls together, and the involuntary context switches.
        """
        reply = self._ask(Request("time", calls))[0]
        return reply.seconds or 0.0, reply.switches

    def call_seconds(self) -> float | None:
        """Measure a call of a function of the same signature that does nothing.

        Returns:
            The seconds of one call, or None if the loader cannot measure that.
        """
        return self._ask(Request("time call"))[0].seconds

    def count(self, calls: int, events: Sequence[CountableEvent]) -> tuple[int, ...]:
        """Count events during calls of the kernel with the operands of ``load``.

        Returns:
            The counts of all calls together; () if the kernel runs in other threads or programs.

        Raises:
            KernelError: as of every request, or an event cannot be counted.
        """
        return self._ask(Request("count", calls, tuple(events)))[0].counts

    def close(self) -> None:
        """Kill the process and wait for its end."""
        if self._closed:
            return
        self._closed = True
        self._kill()
        self._connection.close()
        self._life.close()
        os.close(self._output)

    def _ask(
        self, request: Request, inputs: Sequence[np.ndarray] | None = None
    ) -> tuple[Reply, list[int]]:
        deadline = time.monotonic() + self._seconds
        try:
            self._send(request, inputs)
        except (BrokenPipeError, ConnectionResetError):
            raise self._failure(deadline) from None
        if not _wait(self._connection, deadline):
            self._kill()
            raise KernelTimedOut(f"The kernel did not finish in {self._seconds:g} s.")
        try:
            packet, descriptors, _, _ = socket.recv_fds(self._connection, PACKET, 1)
        except ConnectionResetError:
            packet, descriptors = b"", []
        if not packet:
            raise self._failure(deadline)
        return self._check(packet), descriptors

    def _send(self, request: Request, inputs: Sequence[np.ndarray] | None) -> None:
        packet = pickle.dumps(request)
        if inputs is None:
            self._connection.send(packet)
            return
        descriptor = share(inputs)
        try:
            socket.send_fds(self._connection, [packet], [descriptor])
        finally:
            os.close(descriptor)

    def _check(self, packet: bytes) -> Reply:
        try:
            reply = decode_reply(packet)
        except ValueError:
            self._kill()
            raise KernelCrashed("The kernel damaged its process: the reply is invalid.") from None
        if reply.problem == "memory":
            raise self._out_of_memory()
        if reply.problem:
            raise _ERRORS[reply.problem](reply.message)
        return reply

    def _failure(self, deadline: float) -> KernelError:
        """Return the error of a process that hung up."""
        if not _wait(self._life, deadline):
            self._kill()
            return KernelTimedOut(
                f"The kernel closed its files and did not finish in {self._seconds:g} s."
            )
        status, grown = self._end()
        lines = self._last_lines()
        text = " ".join(lines)
        much = self._memory is not None and grown >= _LARGE_PART * self._memory
        if much or any(phrase in text.lower() for phrase in _NO_MEMORY):
            return self._out_of_memory()
        if status == -signal.SIGKILL:
            return KernelOutOfMemory(
                "The kernel was killed by SIGKILL, as the system does when it is out of memory."
            )
        if status < 0:
            how = f"was killed by {signal_name(-status)}"
        else:
            how = f"ended its process with exit status {status}"
        return KernelCrashed(f"The kernel {how}{f': {text}' if text else '.'}")

    def _out_of_memory(self) -> KernelOutOfMemory:
        if self._memory is None:
            return KernelOutOfMemory("The system has too little memory for the kernel.")
        return KernelOutOfMemory(
            f"The kernel needed more than the limit of {self._memory / (1 << 20):.0f} MiB."
        )

    def _kill(self) -> None:
        """Kill the process and what it started, and wait for that."""
        with contextlib.suppress(OSError):
            self._life.shutdown(socket.SHUT_WR)
        self._end()

    def _end(self) -> tuple[int, int]:
        """Wait for the end of the process."""
        report = b""
        with contextlib.suppress(ConnectionResetError):
            report = self._life.recv(PACKET)
        if not report:  # received before, or the server was killed, and the process with it
            return -signal.SIGKILL, 0
        status, grown = cast(list[int], json.loads(report))
        return status, grown

    def _last_lines(self) -> list[str]:
        size = os.fstat(self._output).st_size
        tail = os.pread(self._output, _TAIL_BYTES, max(0, size - _TAIL_BYTES))
        lines = tail.decode(errors="replace").split("\n")
        return [line.strip() for line in lines if line.strip()][-_TAIL_LINES:]


def _wait(connection: socket.socket, deadline: float) -> bool:
    """Wait until a socket has data or is closed; return whether that happened in time."""
    poll = select.poll()
    poll.register(connection, select.POLLIN)
    return bool(poll.poll(1000 * max(0.0, deadline - time.monotonic())))
