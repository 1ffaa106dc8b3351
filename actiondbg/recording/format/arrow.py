"""pyarrow, which has no types for a checker: its classes are named here, each as Any."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

pa: Any = import_module("pyarrow")
# pyarrow.compute makes a function of Python of each of its hundreds of kernels when it is imported,
# which takes as long as the import of pyarrow itself.
_compute: Any = import_module("pyarrow._compute")

Table: TypeAlias = Any  # pyarrow.Table
Array: TypeAlias = Any  # pyarrow.Array
DataType: TypeAlias = Any  # pyarrow.DataType
Schema: TypeAlias = Any  # pyarrow.Schema
Batch: TypeAlias = Any  # pyarrow.RecordBatch
Reader: TypeAlias = Any  # pyarrow.RecordBatchReader
Ints: TypeAlias = npt.NDArray[np.integer[Any]]
Bools: TypeAlias = npt.NDArray[np.bool_]
Values = TypeVar("Values", bound=npt.NDArray[Any])

PLACE = np.int32  # an index of an action, of which no recording has 2**31

WORD = pa.dictionary(pa.int32(), pa.string())  # of few different values


def call(kernel: str, *arguments: Array) -> Array:
    """Call a kernel of pyarrow.compute, which need not be imported for it."""
    return _compute.call_function(kernel, list(arguments))


def word_array(codes: Ints, words: Sequence[str] | Array) -> Array:
    """Return an array of strings.

    Args:
        codes: the place of each in ``words``, from 0; -1 for null.
        words: a sequence, or an array of strings.
    """
    values = pa.array(words, type=pa.string()) if isinstance(words, list | tuple) else words
    indices = int_array(codes, pa.int32(), codes < 0)
    return pa.DictionaryArray.from_arrays(indices, values)


def int_array(values: Ints, kind: DataType, absent: Bools | None = None) -> Array:
    """Return an array of integers; ``absent`` says which are null."""
    held = np.ascontiguousarray(values, kind.to_pandas_dtype())
    valid = _bits(~absent) if absent is not None and absent.any() else None
    # Not pa.array: it copies what has nulls.
    return pa.Array.from_buffers(kind, len(held), [valid, pa.py_buffer(held)])


def bool_array(values: Bools) -> Array:
    """Return an array of truth values."""
    return pa.Array.from_buffers(pa.bool_(), len(values), [None, _bits(values)])


def _bits(values: Bools) -> Any:
    return pa.py_buffer(np.packbits(values, bitorder="little"))
