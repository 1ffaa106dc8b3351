"""Kernels in shared libraries, called by the C interface of MLIR."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

from actiondbg.kernels.errors import KernelError
from actiondbg.kernels.execution.buffers import FILLS, allocate
from actiondbg.kernels.execution.kernel import KernelBinary
from actiondbg.kernels.packages import np

LOADER = "actiondbg.kernels.providers.shared_library:load"
SUPPORT = "support.c"  # is linked to the kernel
TIMER = "actiondbg_time"
CALLER = "actiondbg_call"
_EMPTY_CALLS = 10_000
_FILLED = 1 << 18  # bytes of the stack


def support_source(symbol: str, arguments: int) -> str:
    """Return the C code that is linked to a kernel: what calls and times it.

    A call fills the stack below it, as buffers are: a kernel that reads there what it did not write
    would be right by chance. Another function times it, or nothing.

    Also what compilers call to round to bf16, which libgcc lacks before version 13. It returns the
    16 bits as the lowest ones of a register for floats, which is written as a float.

    Args:
        symbol: of the kernel in the C interface.
        arguments: the number of its arguments, the result included.
    """
    values = ", ".join(f"arguments[{index}]" for index in range(arguments))
    types = ", ".join(["void *"] * arguments)
    names = ", ".join(f"void *a{index}" for index in range(arguments))
    fills = ", ".join(map(hex, FILLS))
    return f"""#include <stdint.h>
#include <string.h>
#include <time.h>

typedef void function({types});
function {symbol};

static void nothing({names}) {{}}

double {TIMER}(void **arguments, long calls, int empty) {{
  function *volatile chosen = empty ? nothing : {symbol};
  function *called = chosen; /* not known to the compiler: each call is made */
  struct timespec start, end;
  clock_gettime(CLOCK_MONOTONIC, &start);
  for (long call = 0; call < calls; ++call)
    called({values});
  clock_gettime(CLOCK_MONOTONIC, &end);
  return (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) * 1e-9;
}}

static __attribute__((noinline)) void fill_stack(void) {{
  static const unsigned char fills[] = {{{fills}}};
  static unsigned next;
  char stack[{_FILLED}];
  memset(stack, fills[next++ % sizeof fills], sizeof stack);
  __asm__ volatile("" : : "r"(stack) : "memory"); /* it is kept */
}}

void {CALLER}(void **arguments) {{
  fill_stack();
  {symbol}({values});
}}

__attribute__((visibility("hidden"))) float __truncsfbf2(float value) {{
  union {{
    float value;
    uint32_t bits;
  }} number = {{value}};
  int is_nan = (number.bits & 0x7fffffff) > 0x7f800000;
  uint32_t even = 0x7fff + (number.bits >> 16 & 1);
  number.bits = is_nan ? number.bits >> 16 | 0x40 : (number.bits + even) >> 16;
  return number.value;
}}
"""


def load(binary: KernelBinary) -> LibraryKernel:
    """Load a kernel.

    Raises:
        KernelError: the library cannot be loaded, or lacks the function.
    """
    try:
        library = ctypes.CDLL(str(binary.path))
        return LibraryKernel(binary, library[CALLER], library[TIMER])
    except (OSError, AttributeError) as error:
        raise KernelError(f"{str(binary.path)!r} cannot be loaded: {error}.") from error


class LibraryKernel:
    """A kernel of a shared library.

    Args:
        call: the function of ``support_source`` that calls it; takes the addresses of the memref
            descriptors of the inputs and of the result.
        timer: that which times it.
    """

    runs_in_this_thread = True

    def __init__(
        self,
        binary: KernelBinary,
        call: ctypes._NamedFuncPointer,  # pyright: ignore[reportPrivateUsage]
        timer: ctypes._NamedFuncPointer,  # pyright: ignore[reportPrivateUsage]
    ) -> None:
        self._binary = binary
        self._call = call
        self._call.restype = None
        self._timer = timer
        self._timer.restype = ctypes.c_double

    def run(self, inputs: Sequence[np.ndarray]) -> np.ndarray:
        result = allocate(self._binary.result)
        descriptors = [_descriptor(array) for array in (*inputs, result)]
        self._call(_addresses(descriptors))
        return result

    def time(self, inputs: Sequence[np.ndarray], calls: int) -> float:
        return self._time(inputs, calls, empty=False)

    def call_seconds(self, inputs: Sequence[np.ndarray]) -> float:
        return self._time(inputs, _EMPTY_CALLS, empty=True) / _EMPTY_CALLS

    def _time(self, inputs: Sequence[np.ndarray], calls: int, *, empty: bool) -> float:
        # Memory for the result, 64-byte aligned as an allocator of tensors would.
        result = self._binary.result
        memory = np.full(result.bytes + _ALIGNMENT, 0, np.uint8)  # touched, unlike zeros
        memory = memory[-memory.ctypes.data % _ALIGNMENT :][: result.bytes]
        made = memory.view(result.type.dtype).reshape(result.shape)
        arrays = (*inputs, made)  # descriptors do not keep them alive
        descriptors = [_descriptor(array) for array in arrays]
        return float(
            self._timer(_addresses(descriptors), ctypes.c_long(calls), ctypes.c_int(empty))
        )


_ALIGNMENT = 64


def _addresses(descriptors: Sequence[ctypes.Structure]) -> ctypes.Array[ctypes.c_void_p]:
    return (ctypes.c_void_p * len(descriptors))(*map(ctypes.addressof, descriptors))


def _descriptor(array: np.ndarray) -> ctypes.Structure:
    sizes = ctypes.c_int64 * array.ndim
    fields = [
        ("allocated", ctypes.c_void_p),
        ("aligned", ctypes.c_void_p),
        ("offset", ctypes.c_int64),
    ]
    if array.ndim:
        fields += [("sizes", sizes), ("strides", sizes)]
    kind = type("Descriptor", (ctypes.Structure,), {"_fields_": fields})
    address = array.ctypes.data
    if not array.ndim:
        return kind(address, address, 0)
    strides = (stride // array.itemsize for stride in array.strides)
    return kind(address, address, 0, sizes(*array.shape), sizes(*strides))
