"""The tags of the actions that MLIR dispatches, and the agent where MLIR does not."""

from __future__ import annotations

from typing import Literal

from actiondbg.errors import UsageError

CONVERSION_TAG = "apply-conversion"
FOLD_TAG = "fold"
ITERATION_TAG = "GreedyPatternRewriteIteration"
PASS_TAG = "pass-execution"
PATTERN_TAG = "apply-pattern"
STEP_TAG = "transform-op"  # of an operation of a transform dialect schedule

# They are known before the first action.
TAGS = frozenset({CONVERSION_TAG, FOLD_TAG, ITERATION_TAG, PASS_TAG, PATTERN_TAG, STEP_TAG})

# Of what people name: patterns, passes and folds.
TagKind = Literal["pattern", "pass", "fold"]
TAG_OF_KIND: dict[TagKind, str] = {"pattern": PATTERN_TAG, "pass": PASS_TAG, "fold": FOLD_TAG}


def tag_of_kind(kind: str) -> str:
    """Return the tag of a kind; raises UsageError if there is no such kind."""
    if kind not in TAG_OF_KIND:
        raise UsageError(f"There is no kind {kind!r}: the kinds are {', '.join(TAG_OF_KIND)}.")
    return TAG_OF_KIND[kind]
