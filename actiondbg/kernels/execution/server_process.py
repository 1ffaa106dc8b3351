"""The parent's side of the fork servers: one for each module of loaders, for all of the program."""

from __future__ import annotations

import atexit
import contextlib
import os
import select
import socket
import subprocess
import sys
import threading

from actiondbg.kernels.errors import LoaderFailed
from actiondbg.kernels.execution.messages import START

_START_SECONDS = 120.0
_END_SECONDS = 5.0

# The parent's path: a user's loader may be in the folder of a script.
_PROGRAM = (
    "import sys; sys.path[:] = sys.argv[3:]; "
    "from actiondbg.kernels.execution.fork_server import main; "
    "main(int(sys.argv[1]), sys.argv[2])"
)


class ServerProcess:
    """A running fork server."""

    def __init__(self, module: str) -> None:
        self._socket, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with other:
            self._process = subprocess.Popen(
                [sys.executable, "-c", _PROGRAM, str(other.fileno()), module, *sys.path],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=[other.fileno()],
                # Threads of a BLAS would not survive the fork.
                env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
                process_group=0,  # Ctrl-C is the parent's
            )
        try:
            self._wait(module)
        except BaseException:
            self.close()
            raise

    def fork(self, connection: socket.socket, life: socket.socket, output: int) -> None:
        """Start the process of a kernel.

        Raises:
            OSError: the server has ended.
        """
        descriptors = [connection.fileno(), life.fileno(), output]
        socket.send_fds(self._socket, [START], descriptors)

    def close(self) -> None:
        """End the server and the processes that it started."""
        self._socket.close()
        try:
            self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def forget(self) -> None:
        """Close the socket only, in a process that is a fork of the parent."""
        self._socket.close()

    def _wait(self, module: str) -> None:
        poll = select.poll()
        poll.register(self._socket, select.POLLIN)
        if not poll.poll(1000 * _START_SECONDS):
            raise LoaderFailed(f"Importing the loader's module {module} took too long.")
        if not self._socket.recv(16):
            status = self._process.wait()
            raise LoaderFailed(
                f"Python ended with status {status} while it imported the loader's module {module}."
            )


class ServerPool:
    """The fork servers of this program, by the module of the loader."""

    def __init__(self) -> None:
        self._servers: dict[str, ServerProcess] = {}
        self._lock = threading.Lock()

    def fork(
        self, module: str, connection: socket.socket, life: socket.socket, output: int
    ) -> None:
        """Start the process of a kernel, and a server first if there is none.

        Raises:
            LoaderFailed: the server cannot be started.
        """
        with self._lock:
            server = self._servers.get(module)
            if server is not None:
                with contextlib.suppress(OSError):
                    server.fork(connection, life, output)
                    return
                self._servers.pop(module).close()  # something killed it
            server = self._servers[module] = ServerProcess(module)
            server.fork(connection, life, output)

    def close(self) -> None:
        """End the servers; the next kernel starts one again."""
        with self._lock:
            while self._servers:
                self._servers.popitem()[1].close()

    def forget(self) -> None:
        """Leave the servers to the parent, in a process that is a fork of it."""
        self._lock = threading.Lock()
        while self._servers:
            self._servers.popitem()[1].forget()


SERVERS = ServerPool()
atexit.register(SERVERS.close)
os.register_at_fork(after_in_child=SERVERS.forget)
