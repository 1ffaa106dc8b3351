"""Tables for DuckDB with texts larger than memory. Imports pyarrow.dataset, which is slow."""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib import import_module
from typing import Any, TypeAlias

import numpy as np

from actiondbg.recording.format.arrow import Schema
from actiondbg.recording.tables.lazy_table import LazyTable

_datasets: Any = import_module("pyarrow.dataset")
Expression: TypeAlias = Any  # pyarrow.dataset.Expression, or None
Scanner: TypeAlias = Any  # pyarrow.dataset.Scanner


class LargeTable(_datasets.Dataset):
    """An Arrow dataset that builds only the columns and rows of a DuckDB query."""

    def __init__(self, table: LazyTable) -> None:
        self._table = table

    @property
    def schema(self) -> Schema:
        return self._table.schema()

    def scanner(
        self, columns: Sequence[str] | None = None, filter: Expression = None, **how: Any
    ) -> Scanner:
        """Return a scanner over some columns of the rows that pass a filter."""
        wanted = list(columns) if columns is not None else self._table.names
        # An expression does not list its columns: a superset is correct.
        words = set(re.findall(r"\w+", str(filter))) if filter is not None else set[str]()
        named = [name for name in self._table.names if name in words and name not in wanted]
        if not self._table.large.keys() & {*wanted, *named}:
            built = _datasets.dataset(self._table.table([*wanted, *named]))
            return built.scanner(columns=wanted, filter=filter, **how)
        return self._scanner_of_parts(wanted, named, filter, how)

    def _scanner_of_parts(
        self, wanted: list[str], named: list[str], filter: Expression, how: dict[str, Any]
    ) -> Scanner:
        all_names = [*wanted, *named]
        small = [name for name in self._table.names if name not in self._table.large]
        table = self._table.table(small)
        rows = np.arange(len(table))
        if filter is not None and not self._table.large.keys() & {*named}:
            # Find the rows without decompressing texts.
            numbered = table.append_column("", [rows])
            found = _datasets.dataset(numbered).to_table(columns=[""], filter=filter)
            rows = found.column("").to_numpy()
        parts = self._table.parts(all_names, rows)
        schema = self._table.schema(all_names)
        return _datasets.Scanner.from_batches(
            parts, schema=schema, columns=wanted, filter=filter, **how
        )
