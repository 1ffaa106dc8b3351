"""The tags of the actions that MLIR dispatches, and the agent where MLIR does not."""

from __future__ import annotations

from typing import Literal

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
