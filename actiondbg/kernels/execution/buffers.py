"""Buffers of operands and results, between pages that cannot be accessed.

A buffer ends at such a page, to within 64 bytes that keep its alignment; those bytes, and the ones
from the page before to the buffer, have a pattern that is checked after the call. Each buffer has
its own pattern, so that a kernel that copies an operand past the end of the result is seen.
"""

from __future__ import annotations

import ctypes
import itertools
import mmap
import os
import signal
from collections.abc import Sequence

from actiondbg.kernels.model import Tensor
from actiondbg.kernels.packages import np
from actiondbg.support.counts import counted

# What memory holds that a kernel did not write, each in one run of three: NaN of each type, then
# a large number and a large one below zero, in f16, bf16, f32 and f64. A maximum may ignore a NaN,
# and hides what is below it.
FILLS = (0xFF, 0x7B, 0xFB)
_INTEGER_FILL = 0xA5
_ALIGNMENT = 64
_PROT_NONE = 0

_watched: list[GuardedBuffer] = []
_patterns = itertools.count()  # seeds
_fills = itertools.cycle(FILLS)
_SA_SIGINFO = 4
_SA_RESETHAND = 0x80000000
_ADDRESS_OFFSET = 16  # of si_addr in siginfo_t, with pointers of 64 bits
_STDERR = 2
_Handler = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
_installed: list[object] = []  # keeps the C function of the handler alive


def poison(dtype: np.dtype, fill: int = FILLS[0]) -> np.ndarray:
    """Return one element of a type that means "never written".

    Args:
        fill: each byte of a float, from FILLS; by default the float is a NaN.
    """
    byte = _INTEGER_FILL if dtype.kind in "iub" else fill
    return np.full(dtype.itemsize, byte, np.uint8).view(dtype)


def unwritten(result: np.ndarray) -> np.ndarray:
    """Return which elements of a result are as ``allocate`` filled them.

    None of a type of one byte: any of its values is likely.
    """
    if result.itemsize == 1:
        return np.zeros(result.shape, bool)
    bits = np.dtype(f"u{result.itemsize}")
    expected = [poison(result.dtype, each).view(bits)[0] for each in FILLS]
    return np.isin(np.ascontiguousarray(result).view(bits).reshape(result.shape), expected)


class GuardedBuffer:
    """The memory of a tensor, between pages that cannot be accessed."""

    def __init__(self, tensor: Tensor) -> None:
        page = mmap.PAGESIZE
        room = tensor.bytes + -tensor.bytes % _ALIGNMENT
        inner = room + -room % page
        self.tensor = tensor
        self._memory = mmap.mmap(-1, inner + 2 * page, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        whole = np.frombuffer(self._memory, np.uint8)
        self._bytes = whole[page : page + inner]
        self._start = inner - room
        self._end = self._start + tensor.bytes
        random = np.random.default_rng(next(_patterns))
        self._around = random.integers(0, 256, self._bytes.size - tensor.bytes, np.uint8)
        self._bytes[: self._start] = self._around[: self._start]
        self._bytes[self._end :] = self._around[self._start :]
        self._address = whole.ctypes.data + page  # also of a tensor without elements
        for guard in (self._address - page, self._address + inner):
            libc = ctypes.CDLL(None, use_errno=True)
            if libc.mprotect(ctypes.c_void_p(guard), ctypes.c_size_t(page), _PROT_NONE):
                raise OSError(ctypes.get_errno(), "mprotect")
        content = self._bytes[self._start : self._end]
        self.array: np.ndarray = content.view(tensor.type.dtype).reshape(tensor.shape)

    def damage(self) -> str:
        """Return a sentence on what was written around the tensor, or ""."""
        before = np.flatnonzero(self._bytes[: self._start] != self._around[: self._start])
        after = np.flatnonzero(self._bytes[self._end :] != self._around[self._start :])
        if before.size:
            first = self._start - int(before[0])
            place = f"{counted(first, 'byte')} before the start"
        elif after.size:
            place = f"{counted(int(after[-1]) + 1, 'byte')} past the end"
        else:
            return ""
        return f"The kernel wrote {place} of {self.tensor.name}."

    def locate(self, address: int) -> str:
        """Return where an address in the guarding pages is, or ""."""
        page = mmap.PAGESIZE
        if self._address - page <= address < self._address:
            distance = self._address + self._start - address
            return f"{counted(distance, 'byte')} before the start of {self.tensor.name}"
        past = address - self._address - self._bytes.size
        if 0 <= past < page:
            distance = address - self._address - self._end + 1
            return f"{counted(distance, 'byte')} past the end of {self.tensor.name}"
        return ""


def allocate(tensor: Tensor) -> np.ndarray:
    """Allocate the result of a kernel, filled with ``poison`` of the next fill, between guards.

    For loaders, which allocate the result in ``run``: what the kernel does not write is then
    recognised, and so is what it writes outside.
    """
    _report_faults()
    buffer = GuardedBuffer(tensor)
    bits = np.dtype(f"u{tensor.type.size}")  # a bool would become 1
    buffer.array.view(bits)[...] = poison(tensor.type.dtype, next(_fills)).view(bits)[0]
    watch(buffer)
    return buffer.array


def watch(buffer: GuardedBuffer) -> None:
    """Check a buffer in the next ``release``."""
    _watched.append(buffer)


def release() -> str:
    """Forget all buffers; return a sentence on what was written around one of them, or ""."""
    damages = [buffer.damage() for buffer in _watched]
    _watched.clear()
    return next(filter(None, damages), "")


class _SigAction(ctypes.Structure):
    _fields_ = [
        ("handler", _Handler),
        ("mask", ctypes.c_ulong * 16),
        ("flags", ctypes.c_int),
        ("restorer", ctypes.c_void_p),
    ]


def _report_faults() -> None:
    """Write the place of an invalid access to standard error, for loaders that use ctypes.

    The handler is Python: it needs the interpreter's lock, which ctypes releases during a call. It
    returns, and the access, made again, ends the process by the signal.
    """
    if _installed:
        return

    def handle(number: int, info: int, _: int) -> None:
        address = ctypes.c_uint64.from_address(info + _ADDRESS_OFFSET).value
        places = filter(None, (buffer.locate(address) for buffer in _watched))
        place = next(places, f"address {address:#x}")
        os.write(_STDERR, f"Invalid access: {place}.\n".encode())

    libc = ctypes.CDLL(None, use_errno=True)
    action = _SigAction(_Handler(handle), flags=_SA_SIGINFO | _SA_RESETHAND - (1 << 32))
    for number in (signal.SIGSEGV, signal.SIGBUS):
        libc.sigaction(int(number), ctypes.byref(action), None)
    _installed.append(action)


def share(arrays: Sequence[np.ndarray]) -> int:
    """Copy arrays into a new file of shared memory.

    Returns:
        The descriptor of the file, which ``receive`` reads; the caller closes it.
    """
    descriptor = os.memfd_create("actiondbg-kernel")
    with open(descriptor, "wb", closefd=False) as file:
        for array in arrays:
            # Viewed as bytes: the types of ml_dtypes have no buffer format.
            content = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
            file.write(content.data)
            file.write(bytes(-content.size % _ALIGNMENT))
        if not any(array.size for array in arrays):  # an empty file cannot be mapped
            file.write(bytes(_ALIGNMENT))
    return descriptor


def receive(descriptor: int, tensors: Sequence[Tensor]) -> list[np.ndarray]:
    """Map the arrays that ``share`` copied, read-only; the descriptor is closed.

    Raises:
        ValueError: the file is too small.
    """
    try:
        needed = sum(each.bytes + -each.bytes % _ALIGNMENT for each in tensors)
        if os.fstat(descriptor).st_size < needed:
            raise ValueError(f"The arrays need {needed} bytes.")
        memory = mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ)
    finally:
        os.close(descriptor)
    arrays: list[np.ndarray] = []
    offset = 0
    for tensor in tensors:
        content = np.frombuffer(memory, np.uint8, tensor.bytes, offset)
        arrays.append(content.view(tensor.type.dtype).reshape(tensor.shape))
        offset += tensor.bytes + -tensor.bytes % _ALIGNMENT
    return arrays
