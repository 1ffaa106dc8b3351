"""Why there is no recording."""

from __future__ import annotations

from actiondbg.commands.cli.recorded_tool import without_context
from actiondbg.recording.capture.recorder import RecordedRun


def test_an_agent_that_ended_the_tool_is_not_contradicted() -> None:
    """It has said why, such as that the recording cannot be written."""
    assert without_context(RecordedRun(None, 3)) == (
        "the tool ended with status 3 before the recording began"
    )
    why = without_context(RecordedRun(None, 3, is_program=True))  # perhaps its own status
    assert "made an MLIR context, or its recording could not begin: " in why
    assert "without creating an MLIR context" in without_context(RecordedRun(None, 0))
