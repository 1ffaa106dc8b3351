"""The shards of a lit suite, recorded by the workers of a Dask cluster."""

from __future__ import annotations

import contextlib
import math
import os
import queue
import shutil
import signal
import sys
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, cast

from actiondbg.bisection.command_runner import STDERR, STDOUT, CommandRunner
from actiondbg.errors import UsageError
from actiondbg.suite.folder import SuiteFolder
from actiondbg.suite.lit_tests import DRIVERS
from actiondbg.suite.recorded_suite import RecordedSuite
from actiondbg.suite.runs import add_suites
from actiondbg.support.counts import joined, plural
from actiondbg.support.dask_client import DaskClient, DaskFuture, cancelled_with_task, connect
from actiondbg.support.scratch_directory import scratch_directory

_SHARDED = ("--num-shards", "--run-shard")
_POLL_SECONDS = 1.0
_NO_WORKER_SECONDS = 60.0  # in which a worker that ended may be started anew
_SIGNALLED = 128  # and more: the exit status of a driver that a signal ended


class _NoWorker(Exception):
    """The cluster has had no worker for a while."""


class ShardOutput(NamedTuple):
    """What the driver of a shard, such as ``1 of 4``, wrote."""

    name: str
    output: bytes
    errors: bytes


@dataclass(frozen=True)
class _Task:
    """What a worker needs to record a shard; it can be sent to another machine."""

    argv: list[str]  # the command line of the driver
    options: list[str]  # those of ``actiondbg suite record``
    cwd: Path  # its working directory
    folder: Path  # for a folder of the shard, in a file system that the worker may share
    mark: str  # a file in ``folder``, by which a worker knows it


class _Answer(NamedTuple):
    """A recorded shard, as a worker sends it."""

    status: int  # the exit status of ``actiondbg suite record``
    output: bytes  # what the driver wrote on its standard output
    errors: bytes  # likewise, on its standard error
    folder: Path | None  # the suite, in the shared file system; None if ``files`` has it
    files: dict[str, bytes]  # its files by their paths in the folder


# --- on a worker ---------------------------------------------------------------------------


def _record_on_worker(task: _Task) -> _Answer:
    """Record a shard; its driver ends when the task is cancelled, and with the worker."""
    with scratch_directory("shard") as scratch:
        is_shared = (task.folder / task.mark).exists()
        folder = (task.folder if is_shared else scratch) / uuid.uuid4().hex
        ours = [sys.executable, "-m", "actiondbg", "suite", "record", "-q", "-o", str(folder)]
        runner = CommandRunner(scratch)
        with cancelled_with_task(runner.cancel):
            done = runner.run([*ours, *task.options, "--", *task.argv], cwd=task.cwd)
        output, errors = (scratch / STDOUT).read_bytes(), (scratch / STDERR).read_bytes()
        status = done.status if done.status is not None and done.status >= 0 else _SIGNALLED
        if is_shared:
            return _Answer(status, output, errors, folder, {})
        for name in ("index", "agent"):  # the merged suite has its own
            shutil.rmtree(folder / name, ignore_errors=True)
        made = [each for each in folder.rglob("*") if each.is_file()]
        files = {str(each.relative_to(folder)): each.read_bytes() for each in made}
        return _Answer(status, output, errors, None, files)


# --- in the front end ----------------------------------------------------------------------


def shard_command(argv: Sequence[str], number: int, count: int) -> list[str]:
    """Return the command line of the shard ``number`` of lit, from 1.

    Raises:
        UsageError: it is another program, or one shard of it.
    """
    names = [os.path.basename(word) for word in argv[:3]]
    is_module = names[1:] == ["-m", "lit"]
    if not is_module and not any(name in DRIVERS for name in names[:2]):
        raise UsageError(
            f"{argv[0]!r} cannot be divided: only lit has shards; name lit with the folder of the "
            "tests, or record parts of the suite and join them with 'actiondbg suite merge'."
        )
    if any(word.partition("=")[0] in _SHARDED for word in argv):
        raise UsageError(
            "The command selects a shard by itself: leave --num-shards and --run-shard to --shards."
        )
    # In lit's own order, by the times of an earlier run, a test may be in two shards or in none.
    order = ["--order", "lexical"]
    return [*argv, *order, "--num-shards", str(count), "--run-shard", str(number)]


def record_shards(
    argv: Sequence[str],
    folder: SuiteFolder,
    address: str,
    show: Callable[[ShardOutput], None],
    warn: Callable[[str], None],
    *,
    count: int | None = None,
    options: Sequence[str] = (),
    resume: bool = False,
) -> RecordedSuite:
    """Record the shards of a lit suite on the workers of a Dask cluster, a shard at a time on each.

    The command, its files and the working directory have the same names there. A worker whose
    file system has the folder of the suite records into it, others send the recordings. A shard
    that is recorded is in the suite, whatever happens to later ones.

    Args:
        argv: the command line of lit.
        folder: the suite; it is made.
        address: of the scheduler, such as ``tcp://10.0.0.1:8786``.
        show: called with what the driver of a shard wrote, when it has ended.
        warn: called with a sentence about shards that were not recorded.
        count: the number of shards; None for that of the workers.
        options: those of ``actiondbg suite record`` for each shard.
        resume: keep the runs of the folder, and record the shards that it lacks.

    Returns:
        The worst exit status of the drivers, at least 1 if a shard was not recorded; negative
        after Ctrl-C.

    Raises:
        UsageError: the command is not lit, the folder has other contents, the scheduler cannot be
            reached or has no workers, or Dask is not installed.
    """
    shard_command(argv, 1, 1)  # refused before the connection
    client = connect(address)
    try:
        folder.make(resume)
        if not folder.exists:
            folder.describe_all([])
        recording = _Shards(client, folder, show, count or len(client.nthreads()))
        return recording.run(list(argv), list(options), warn)
    finally:
        client.close()


def _unpacked(files: Mapping[str, bytes], target: Path) -> Path:
    """Write the files of a suite that a worker sent; return its folder."""
    suite = SuiteFolder(target)
    if files:
        suite.make(resume=False)
    for name, content in files.items():
        (target / name).write_bytes(content)
    return target


class _Shards:
    """The shards of one suite."""

    def __init__(
        self,
        client: DaskClient,
        folder: SuiteFolder,
        show: Callable[[ShardOutput], None],
        count: int,
    ) -> None:
        self._client = client
        self._folder = folder
        self._show = show
        self._count = count
        self._shards = folder.path / "shards"
        self._running: dict[int, DaskFuture] = {}
        self._done: queue.SimpleQueue[tuple[int, DaskFuture]] = queue.SimpleQueue()

    def run(
        self, argv: list[str], options: list[str], warn: Callable[[str], None]
    ) -> RecordedSuite:
        """Record the shards that the suite lacks."""
        began = time.monotonic()
        noted = self._folder.description().commands
        commands = {
            number: shard_command(argv, number, self._count) for number in range(1, self._count + 1)
        }
        left = [number for number, command in commands.items() if command not in noted]
        lost: dict[int, str] = {number: "it was interrupted" for number in left}
        waiting = list(reversed(left))
        mark = uuid.uuid4().hex
        shutil.rmtree(self._shards, ignore_errors=True)  # of a killed recording
        self._shards.mkdir()
        (self._shards / mark).touch()
        worst = 0
        try:
            while waiting or self._running:
                while waiting and len(self._running) < max(1, self._workers()):
                    number = waiting.pop()
                    task = _Task(commands[number], options, Path.cwd(), self._shards, mark)
                    self._submit(number, task)
                number, future = self._wait()
                del self._running[number]
                status, reason = self._take(number, future)
                worst = max(worst, status)
                if reason is None:
                    del lost[number]
                else:
                    lost[number] = reason
        except _NoWorker:
            worst = max(worst, 1)
            lost |= dict.fromkeys([*waiting, *self._running], "no Dask worker is left")
        except KeyboardInterrupt:
            worst = -signal.SIGINT
        finally:
            for future in self._running.values():
                future.cancel()
            shutil.rmtree(self._shards, ignore_errors=True)
        if lost:
            warn(self._lost(lost))
        return RecordedSuite(worst, time.monotonic() - began)

    def _submit(self, number: int, task: _Task) -> None:
        future = self._client.submit(_record_on_worker, task, pure=False)
        self._running[number] = future
        future.add_done_callback(lambda done: self._done.put((number, done)))

    def _wait(self) -> tuple[int, DaskFuture]:
        """Return a shard that is done; raise _NoWorker if nothing can run the others."""
        deadline = math.inf
        while True:
            with contextlib.suppress(queue.Empty):
                return self._done.get(timeout=_POLL_SECONDS)
            if self._workers():
                deadline = math.inf
            elif time.monotonic() > (
                deadline := min(deadline, time.monotonic() + _NO_WORKER_SECONDS)
            ):
                raise _NoWorker

    def _workers(self) -> int:
        with contextlib.suppress(Exception):  # of Dask, whose scheduler has gone away
            return len(self._client.nthreads())
        return 0

    def _take(self, number: int, future: DaskFuture) -> tuple[int, str | None]:
        """Add a shard to the suite; return its status, and why it is not recorded."""
        try:
            answer = cast(_Answer, future.result())
        except CancelledError:
            return 1, "the connection to the Dask scheduler was lost"
        except Exception as error:  # of Dask, or of the worker's system
            return 1, f"the Dask worker failed: {str(error).partition('. ')[0]}"
        self._show(ShardOutput(f"{number} of {self._count}", answer.output, answer.errors))
        source = SuiteFolder(answer.folder or _unpacked(answer.files, self._shards / str(number)))
        if not source.exists or answer.status >= _SIGNALLED:
            return answer.status, f"its driver ended with status {answer.status}"
        add_suites([source], self._folder)
        shutil.rmtree(source.path, ignore_errors=True)
        return answer.status, None

    def _lost(self, lost: dict[int, str]) -> str:
        numbers = joined([str(number) for number in sorted(lost)])
        reasons = joined(list(dict.fromkeys(lost.values())))
        were = "was" if len(lost) == 1 else "were"
        return (
            f"{plural('Shard', len(lost))} {numbers} of {self._count} {were} not recorded "
            f"({reasons}): the same command with --resume records what is left."
        )
