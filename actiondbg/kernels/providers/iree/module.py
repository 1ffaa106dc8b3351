"""Kernels in IREE's virtual machine, in the child process."""

from __future__ import annotations

import time
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy

from actiondbg.kernels.errors import KernelError, NotRunnable
from actiondbg.kernels.execution.kernel import KernelBinary, LoadedKernel
from actiondbg.kernels.model import ElementType
from actiondbg.kernels.providers.iree.programs import EMPTY_CALL

if TYPE_CHECKING:
    import numpy as np

_runtime: Any = import_module("iree.runtime")  # has no type stubs

_EMPTY_CALLS = 1000
_ELEMENTS = {
    ElementType.F16: "FLOAT_16",
    ElementType.BF16: "BFLOAT_16",
    ElementType.F32: "FLOAT_32",
    ElementType.F64: "FLOAT_64",
    ElementType.I1: "BOOL_8",
    ElementType.I8: "INT_8",
    ElementType.I32: "INT_32",
}


def load(binary: KernelBinary) -> LoadedKernel:
    """Load a kernel of IREE, which runs in the calling thread on the device ``local-sync``.

    Raises:
        KernelError: another version compiled it, or the device does not accept it.
        NotRunnable: this machine does not have the device.
    """
    return ModuleKernel(binary)


class ModuleKernel:
    """A function of a module, on a device.

    Args:
        binary: the module; settings ``device``, ``batch``: how often one call of the function
            runs each of its dispatches, and ``result``: the index of the result that ``run``
            returns.

    Raises:
        KernelError: another version compiled it, or the device does not accept it.
        NotRunnable: this machine does not have the device.
    """

    def __init__(self, binary: KernelBinary) -> None:
        self._binary = binary
        self._batch = int(binary.settings.get("batch", 1))
        device = str(binary.settings["device"])
        self.runs_in_this_thread = device == "local-sync"
        try:
            self._device = _runtime.get_device(device)
        except (RuntimeError, ValueError) as error:
            raise NotRunnable(f"No device {device}: {str(error).splitlines()[0]}.") from error
        try:
            instance = _runtime.VmInstance()
            module = _runtime.VmModule.mmap(instance, str(binary.path))
            hal = _runtime.create_hal_module(instance, self._device)
            self._context = _runtime.VmContext(instance, [hal, module])
        except (RuntimeError, ValueError) as error:
            raise KernelError(_load_failure(binary, str(error))) from error
        self._function = module.lookup_function(binary.symbol)
        self._empty = module.lookup_function(EMPTY_CALL)
        if self._function is None:
            raise KernelError(f"{binary.path} has no function {binary.symbol}.")

    def run(self, inputs: Sequence[np.ndarray]) -> np.ndarray:
        arguments, results = self._arguments(inputs), _runtime.VmVariantList(1)
        try:
            self._context.invoke(self._function, arguments, results)
        except (RuntimeError, ValueError) as error:
            raise KernelError(f"IREE failed: {str(error).splitlines()[0]}.") from error
        index = int(self._binary.settings.get("result", 0))
        view = results.get_as_object(index, _runtime.HalBufferView)
        # Copied as bytes, because the runtime has no array type for bf16.
        tensor = self._binary.result
        raw = _runtime.HalBufferView(
            buffer=view.get_buffer(),
            shape=(tensor.bytes,),
            element_type=_runtime.HalElementType.UINT_8,
        )
        content = _runtime.DeviceArray(self._device, raw).to_host()
        return numpy.array(content).view(tensor.type.dtype).reshape(tensor.shape)

    def time(self, inputs: Sequence[np.ndarray], calls: int) -> float:
        invocations = -(-calls // self._batch)
        elapsed = self._time(self._function, inputs, invocations)
        return elapsed * calls / (invocations * self._batch)

    def call_seconds(self, inputs: Sequence[np.ndarray]) -> float | None:
        """Call the function that does nothing; see TimedCall."""
        if self._empty is None:
            return None
        return self._time(self._empty, inputs, _EMPTY_CALLS) / (_EMPTY_CALLS * self._batch)

    def _time(self, function: Any, inputs: Sequence[np.ndarray], invocations: int) -> float:
        arguments = self._arguments(inputs)
        invoke, make_list = self._context.invoke, _runtime.VmVariantList
        started = time.perf_counter()
        for _ in range(invocations):
            invoke(function, arguments, make_list(1))
        return time.perf_counter() - started

    def _arguments(self, inputs: Sequence[np.ndarray]) -> Any:
        arguments = _runtime.VmVariantList(len(inputs))
        for tensor, array in zip(self._binary.inputs, inputs, strict=True):
            arguments.push_ref(
                self._device.allocator.allocate_buffer_copy(
                    memory_type=_runtime.MemoryType.DEVICE_LOCAL,
                    allowed_usage=_runtime.BufferUsage.DEFAULT,
                    device=self._device,
                    buffer=_plain(array),
                    element_type=getattr(_runtime.HalElementType, _ELEMENTS[tensor.type]),
                )
            )
        return arguments


def _plain(array: np.ndarray) -> np.ndarray:
    """Return an array of which Python gives a buffer: of bf16, as integers of the same size."""
    array = numpy.ascontiguousarray(array).reshape(array.shape)  # which it makes of rank 1 at least
    return array.view(numpy.uint16) if array.dtype.name == "bfloat16" else array


def _load_failure(binary: KernelBinary, error: str) -> str:
    """Return the sentence on a module that cannot be loaded."""
    if "version mismatch" in error or "unsupported by this runtime" in error:
        return (
            f"{binary.path} was compiled by another version of IREE than the installed runtime's: "
            "--force-compile compiles it again."
        )
    reason = error.splitlines()[0] if error else "no reason given"
    return f"IREE cannot load {binary.path}: {reason}."
