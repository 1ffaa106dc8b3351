"""Tables whose columns are built on first use."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from actiondbg.recording.format.arrow import (
    Array,
    Batch,
    DataType,
    Ints,
    Schema,
    Table,
    int_array,
    pa,
)
from actiondbg.recording.format.items import do_all

Build = Callable[[], Array]
BuildPart = Callable[[Ints], Array]
Column = tuple[str, DataType, Build]  # name, type, builder

_PART = 256  # rows: so many long texts fit into memory


class LazyTable:
    """A table whose columns are built on first use and cached.

    Args:
        columns: in order.
        large: builders of columns larger than memory, called with the indices of some rows.
    """

    def __init__(
        self, columns: Iterable[Column], large: Mapping[str, BuildPart] | None = None
    ) -> None:
        self._builders = {name: (kind, build) for name, kind, build in columns}
        self._built: dict[str, Array] = {}
        self.large = large or {}

    @property
    def names(self) -> list[str]:
        return list(self._builders)

    def schema(self, names: Sequence[str] | None = None) -> Schema:
        """Return the schema of some columns, or of all."""
        wanted = self.names if names is None else names
        return pa.schema([(name, self._builders[name][0]) for name in wanted])

    def table(self, names: Sequence[str] | None = None) -> Table:
        """Return some or all columns as a pyarrow.Table; raises KeyError for an unknown one."""
        wanted = self.names if names is None else names
        return pa.table(self.columns(wanted), schema=self.schema(wanted))

    def columns(self, names: Sequence[str]) -> list[Array]:
        """Return some columns, which are built together; raises KeyError for an unknown one."""
        do_all(self._column, [name for name in dict.fromkeys(names) if name not in self._built])
        return [self._column(name) for name in names]

    def parts(self, names: Sequence[str], rows: Ints) -> Iterator[Batch]:
        """Yield batches of some columns of some rows; large columns are not cached."""
        kept = [name for name in names if name not in self.large]
        small = self.table(kept).take(int_array(rows, pa.int64())).combine_chunks()
        for first in range(0, len(rows), _PART):
            which = rows[first : first + _PART]
            cut = small.slice(first, len(which))
            columns = [
                self.large[name](which) if name in self.large else cut.column(name).combine_chunks()
                for name in names
            ]
            yield pa.record_batch(columns, schema=self.schema(names))

    def forget(self) -> None:
        """Drop the cached columns."""
        self._built.clear()

    def _column(self, name: str) -> Array:
        if name not in self._built:
            self._built[name] = self._builders[name][1]()
        return self._built[name]
