"""Tests that run real MLIR tools with the agent inside."""
