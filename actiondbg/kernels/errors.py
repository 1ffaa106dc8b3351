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


class LoaderFailed(KernelError):
    """The loader could not load a compiled kernel; the message has the loader's reason."""


class KernelCrashed(KernelError):
    """The process of a kernel ended by a signal, or with an exit status, during a request."""


class KernelTimedOut(KernelError):
    """A kernel did not finish in time, and its process was killed."""


class KernelOutOfMemory(KernelError):
    """A kernel needed more memory than the limit, or than there was."""


class WroteOutOfBounds(KernelError):
    """A kernel wrote outside of its result: around a buffer, or into an operand."""


class ResultChanged(KernelError):
    """A later call of a kernel computed something else than the first one."""


class PeaksUnknown(ActiondbgError):
    """The machine's peaks could not be measured; reports then have no per cent of them."""


class Unsupported(KernelError):
    """An operation cannot be cut out, interpreted or written in C; the text says why."""
