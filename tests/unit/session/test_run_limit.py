"""The limit of a run: processor time does not depend on how long a process waits."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager

from actiondbg.process.forked_tool import RunLimit
from actiondbg.process.process_status import processor_seconds

LOOP = "while True: pass"
CHILDREN = """
import os, time
while os.times().children_user < 0.1:
    if not os.fork():
        for _ in range(1_000_000): pass
        os._exit(0)
    os.wait()
time.sleep(1000)
"""


@contextmanager
def running(program: str) -> Generator[int]:
    """Run a program of Python up to the end of the block."""
    line = [sys.executable, "-SE", "-c", f"print(flush=True)\n{program}"]
    with subprocess.Popen(line, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            yield process.pid
        finally:
            process.kill()


def test_a_process_that_computes_reaches_the_limit() -> None:
    with running(LOOP) as pid:
        limit = RunLimit(pid, None, 0.1)
        while limit.left():
            time.sleep(0.01)
        assert processor_seconds(pid) >= 0.1


def test_children_that_have_ended_count() -> None:
    with running(CHILDREN) as pid:
        limit = RunLimit(pid, None, 0.08)
        while limit.left():
            time.sleep(0.01)


def test_a_process_that_waits_does_not_reach_it() -> None:
    with running("import time; time.sleep(1000)") as pid:
        time.sleep(0.1)
        limit = RunLimit(pid, None, 1.0)
        time.sleep(0.2)
        assert (limit.left() or 0.0) > 0.9
        assert RunLimit(pid, 0.0, 1.0).left() == 0.0
        assert RunLimit(pid, None, None).left() is None


def test_a_process_that_has_ended_has_used_nothing() -> None:
    process = subprocess.Popen([sys.executable, "-SE", "-c", ""])
    process.wait()
    assert processor_seconds(process.pid) == 0.0
