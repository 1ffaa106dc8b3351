"""Tests of attaching to the MLIR inside a Python program, and of the pytest plugin."""
