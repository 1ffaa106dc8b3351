"""The helpers of tests that look at processes, and end those that a test leaves."""

from __future__ import annotations

import subprocess
import time

from tests.processes import children, descendants, is_alive, kill_family, wait_for_end


def test_family_is_killed_across_process_groups() -> None:
    script = "setsid sh -c 'sleep 600; true' & wait"
    with subprocess.Popen(["sh", "-c", script]) as process:
        deadline = time.monotonic() + 30
        while len(family := descendants(process.pid)) < 2:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        assert children(process.pid) == family[:1]
        assert all(map(is_alive, (process.pid, *family)))
        kill_family(process.pid)
    wait_for_end(family)
    assert not is_alive(process.pid)
