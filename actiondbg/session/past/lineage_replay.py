"""A replay that records the run up to now, with the lineage of its operations."""

from __future__ import annotations

from pathlib import Path

from actiondbg import protocol
from actiondbg.session.past.replay import Replay, replay_to


def record_replay(replay: Replay, path: Path) -> None:
    """Replay the run up to now, and record it.

    Args:
        replay: replays the run.
        path: the recording, which is written anew.

    Raises:
        NotStopped: the tool runs or was not started.
        NoAnswer: the run cannot be replayed.
    """
    with replay.fork() as fork:
        fork.request(protocol.OpenRecording(path=str(path)))
        replay_to(fork, replay.now())
        fork.request(protocol.CloseRecording())
