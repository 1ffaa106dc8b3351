"""Tests that need no MLIR tool; together they take less than a minute."""
