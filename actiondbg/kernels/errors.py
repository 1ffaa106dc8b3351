"""The errors of kernels."""

from __future__ import annotations

from actiondbg.errors import ActiondbgError


class KernelError(ActiondbgError):
    """One kernel could not be compiled or run; a sweep makes a row of it and continues."""


class CompileError(KernelError):
    """A step of the compilation failed; the message names the step and the log."""


class NotRunnable(KernelError):
    """The kernel is compiled, but this machine has no device for it."""


class ProviderMissing(ActiondbgError):
    """A compiler or a package of a provider is not installed; the message names the command."""
