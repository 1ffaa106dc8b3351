"""Typed helpers over pyarrow, which has no type stubs: its classes are aliases of Any."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

pa: Any = import_module("pyarrow")
# Importing pyarrow.compute wraps hundreds of kernels in Python functions, which takes as long as
# importing pyarrow itself.
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

PLACE = np.int32  # the index of an action; no recording has 2**31 actions

WORD = pa.dictionary(pa.int32(), pa.string())  # strings with few different values


def call(kernel: str, *arguments: Array) -> Array:
    """Call a kernel of pyarrow.compute without importing that module."""
    return _compute.call_function(kernel, list(arguments))


def word_array(codes: Ints, words: Sequence[str] | Array) -> Array:
    """Return an array of strings.

    Args:
        codes: the index of each in ``words``, from 0; -1 for null.
        words: a sequence or an array of strings.
    """
    values = pa.array(words, type=pa.string()) if isinstance(words, list | tuple) else words
    indices = int_array(codes, pa.int32(), codes < 0)
    return pa.DictionaryArray.from_arrays(indices, values)


class WordColumn(NamedTuple):
    """The code of each row's text, -1 for none, and the distinct texts, by code."""

    codes: Ints
    values: list[str]

    def of(self, row: int) -> str | None:
        """Return the text of a row."""
        code = int(self.codes[row])
        return None if code < 0 else self.values[code]

    def take(self, rows: Ints) -> list[str | None]:
        """Return the texts of some rows."""
        values = [*self.values, None]
        return [values[code] for code in self.codes[rows].tolist()]

    def where(self, accepts: Callable[[str], bool]) -> Bools:
        """Return a mask of the rows whose text satisfies a predicate."""
        found = np.array([*(accepts(value) for value in self.values), False], dtype=np.bool_)
        return found[self.codes]

    def code(self, value: str) -> int:
        """Return the code of a text; for an unknown text, a code that no row has."""
        return self.values.index(value) if value in self.values else len(self.values)


def word_column(array: Array) -> WordColumn:
    """Convert an array of the type ``WORD``."""
    codes = array.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    return WordColumn(codes, array.dictionary.to_pylist())


def int_array(values: Ints, kind: DataType, absent: Bools | None = None) -> Array:
    """Return an array of integers, null where ``absent``."""
    held = np.ascontiguousarray(values, kind.to_pandas_dtype())
    valid = _bits(~absent) if absent is not None and absent.any() else None
    # pa.array would copy values with nulls.
    return pa.Array.from_buffers(kind, len(held), [valid, pa.py_buffer(held)])


def id_array(ids: Ints) -> Array:
    """Return an array of ids or ordinals, null where they are 0."""
    return int_array(ids, pa.int64(), ids == 0)


def bool_array(values: Bools, absent: Bools | None = None) -> Array:
    """Return an array of truth values, null where ``absent``."""
    valid = _bits(~absent) if absent is not None and absent.any() else None
    return pa.Array.from_buffers(pa.bool_(), len(values), [valid, _bits(values)])


def _bits(values: Bools) -> Any:
    return pa.py_buffer(np.packbits(values, bitorder="little"))
