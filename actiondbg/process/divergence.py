"""Sentences about a replay, or a run that went back, that differs from the run."""

from __future__ import annotations

from actiondbg import protocol

NONDETERMINISTIC = "The tool may be nondeterministic."


def replay_differs(first: protocol.Difference) -> str:
    """Return the sentence about the first action of a replay that differs from the run."""
    return (
        f"The replay differs from the run at #{first.ordinal}: "
        f"run {first.run}, replay {first.replay}."
    )


def run_differs(first: protocol.Difference) -> str:
    """Return the sentence about the first action that differs from the one before going back."""
    return (
        f"The run differs from before it went back at #{first.ordinal}: "
        f"before {first.run}, now {first.replay}. {NONDETERMINISTIC}"
    )
