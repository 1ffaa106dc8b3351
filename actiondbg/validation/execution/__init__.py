"""Functions of a module run for real: lowered, and executed by ``mlir-runner``."""

from __future__ import annotations
