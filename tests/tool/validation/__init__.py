"""Tests of the validation of transformations with MLIR's tools."""
