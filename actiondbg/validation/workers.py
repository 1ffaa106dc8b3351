"""Processes that judge: one that crashes or hangs costs its query only."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import NamedTuple, cast

from actiondbg.support.interrupts import signal_name
from actiondbg.validation.judgement import Judgement, Limits, Query

_TICK = 0.2  # seconds between checks of the time limit
_GRACE = 15.0  # seconds that a query may take beyond its own, with the start of the process
_MODULE = "actiondbg.validation.worker"


class Numbered(NamedTuple):
    """A query.

    Attributes:
        number: of the action that it is about.
        query: the query.
        seconds: for all its functions together.
    """

    number: int
    query: Query
    seconds: float


@dataclass(slots=True)
class _Worker:
    process: subprocess.Popen[bytes]
    connection: Connection
    since: float = 0.0
    asked: Numbered | None = None


class Workers:
    """A pool of processes.

    Args:
        count: of processes.
        limits: of each judgement; a query has seconds of its own.
    """

    def __init__(self, count: int, limits: Limits) -> None:
        self._count = count
        self._limits = limits
        self._workers: list[_Worker] = []

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def answers(
        self, queries: Iterable[Numbered], end: float = float("inf")
    ) -> Iterator[tuple[Numbered, tuple[Judgement, ...]]]:
        """Yield queries with their answers, as they come.

        Args:
            queries: are taken one by one, each when a process is free.
            end: the time, of the monotonic clock, after which nothing is answered.
        """
        left = iter(queries)
        while True:
            self._start(left)
            busy = {each.connection: each for each in self._workers if each.asked is not None}
            if not busy:
                return
            if time.monotonic() > end:
                for worker in busy.values():
                    self._end(worker)
                return
            for ready in wait(list(busy), _TICK):
                yield self._received(busy.pop(cast("Connection", ready)))
            for worker in list(busy.values()):
                assert worker.asked is not None
                most = worker.asked.seconds + _GRACE
                if time.monotonic() - worker.since > most:
                    yield self._ended(worker, f"it took longer than {most:.0f} s")

    def close(self) -> None:
        """Kill all processes."""
        for worker in self._workers:
            worker.process.kill()
            worker.connection.close()
        for worker in self._workers:
            worker.process.wait()
        self._workers.clear()

    def _start(self, left: Iterator[Numbered]) -> None:
        """Give queries to free processes."""
        while sum(each.asked is not None for each in self._workers) < self._count:
            asked = next(left, None)
            if asked is None:
                return
            free = next((each for each in self._workers if each.asked is None), None)
            free = free or self._new()
            free.asked, free.since = asked, time.monotonic()
            with contextlib.suppress(OSError):  # the process has ended, as its answer will tell
                free.connection.send((asked.query, asked.seconds))

    def _new(self) -> _Worker:
        ours, theirs = socket.socketpair()
        with theirs:
            command = [sys.executable, "-m", _MODULE, str(theirs.fileno()), str(os.getpid())]
            process = subprocess.Popen(
                command,
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        worker = _Worker(process, Connection(ours.detach()))
        self._workers.append(worker)
        with contextlib.suppress(OSError):
            worker.connection.send(self._limits)
        return worker

    def _received(self, worker: _Worker) -> tuple[Numbered, tuple[Judgement, ...]]:
        assert worker.asked is not None
        try:
            answer: list[Judgement] = worker.connection.recv()
        except (EOFError, OSError):
            with contextlib.suppress(subprocess.TimeoutExpired):
                worker.process.wait(_TICK)
            return self._ended(worker, _ending(worker.process.returncode))
        asked, worker.asked = worker.asked, None
        return asked, tuple(answer)

    def _ended(self, worker: _Worker, reason: str) -> tuple[Numbered, tuple[Judgement, ...]]:
        assert worker.asked is not None
        self._end(worker)
        lost = Judgement(worker.asked.query.symbol, "unknown", "none", reason)
        return worker.asked, (lost,)

    def _end(self, worker: _Worker) -> None:
        worker.process.kill()
        worker.process.wait()
        worker.connection.close()
        self._workers.remove(worker)


def _ending(status: int | None) -> str:
    if status is not None and status < 0:
        return f"the process that judged it was killed by {signal_name(-status)}"
    return f"the process that judged it ended with status {status}"


def judge_apart(query: Query, limits: Limits) -> tuple[Judgement, ...]:
    """Judge one query in a process of its own."""
    with Workers(1, limits) as workers:
        ((_, judgements),) = workers.answers([Numbered(0, query, limits.seconds_for(query))])
    return judgements
