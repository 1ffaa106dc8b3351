"""Dispatches: what is compiled, verified and profiled."""

from __future__ import annotations

from dataclasses import dataclass

from actiondbg.kernels.model.configuration import Configuration
from actiondbg.kernels.model.operation import Operation


@dataclass(frozen=True)
class Dispatch:
    """An operation with a configuration."""

    operation: Operation
    configuration: Configuration

    @property
    def name(self) -> str:
        """The operation's name and the configuration's."""
        return f"{self.operation.name}_{self.configuration.name}"
