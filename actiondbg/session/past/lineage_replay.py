"""A replay that records the run, with the lineage of its operations."""

from __future__ import annotations

from pathlib import Path

from actiondbg import protocol
from actiondbg.errors import NoAnswer, ToolGone, UsageError
from actiondbg.process.forked_tool import ForkedTool
from actiondbg.session.debug_session import End
from actiondbg.session.past.replay import Place, Replay, replay_to


def record_replay(replay: Replay, path: Path, end: End) -> None:
    """Replay the run, and record it with the IR at this stop and at the end of the replay.

    Args:
        replay: replays the run.
        path: the recording, which is written anew.
        end: the ordinal of the action after which the replay ends; "now" for this stop, "end" for
            the end of the run.

    Raises:
        NotStopped: the tool runs or was not started.
        NoAnswer: the run cannot be replayed.
        UsageError: the action is before this stop.
    """
    now = replay.now()
    if isinstance(end, int) and replay.has_ended(end):
        raise UsageError(f"The action #{end} is before this stop, at #{now.ordinal}.")
    with replay.fork() as fork:
        fork.request(protocol.OpenRecording(path=str(path)))
        replay_to(fork, now)
        if now.ordinal:
            fork.request(protocol.RecordStage())
        if end == "end":
            fork.complete()
            return fork.check_same()
        if end != "now":
            _advance(fork, end)
            fork.request(protocol.RecordStage())
        fork.request(protocol.CloseRecording())


def _advance(fork: ForkedTool, end: int) -> None:
    try:
        replay_to(fork, Place(end, "after"))
    except (NoAnswer, ToolGone) as error:
        raise UsageError(
            f"The run ends before the end of an action #{end}: see info pipeline."
        ) from error
