"""Threads that ask one session over a recording at the same time."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

pytest.importorskip("duckdb")

from actiondbg.recording.session import open_session
from tests.elements import some
from tests.fakes.recording.recordings import Action, write_recording


def test_each_thread_gets_its_own_answer(tmp_path: Path) -> None:
    actions = [Action(name=f"P{at % 3}", depth=at % 2) for at in range(60)]
    path = write_recording(tmp_path / "run.adbrec", actions)
    counts: list[int] = []
    errors: list[BaseException] = []
    with open_session(path) as session:
        session.run()

        def ask(name: str) -> None:
            for _ in range(40):
                try:
                    counts.append(len(session.past.why_not(name).attempts))
                except BaseException as error:
                    errors.append(error)

        threads = [threading.Thread(target=ask, args=(name,)) for name in ("P0", "P1", "P[2]")]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
    assert errors == []
    assert all(count == 20 for count in some(counts))
