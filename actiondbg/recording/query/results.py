"""Query results as CSV, JSON or Parquet."""

from __future__ import annotations

import datetime
import decimal
import json
import math
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import IO, Any

from actiondbg.recording.format.arrow import Array, DataType, Reader, pa

Write = Callable[[Reader, IO[bytes]], None]


def write_csv(reader: Reader, out: IO[bytes]) -> None:
    """Write a result as CSV (RFC 4180) with a header; null is an empty field without quotes."""
    csv: Any = import_module("pyarrow.csv")
    schema = pa.schema([field.with_type(_csv_type(field.type)) for field in reader.schema])
    with csv.CSVWriter(out, schema) as writer:
        for batch in reader:
            writer.write_batch(_converted(batch, schema))


def write_json(reader: Reader, out: IO[bytes]) -> None:
    """Write a result as a JSON array of objects, one a line."""
    names = _unique(reader.schema.names)
    before = "[\n"
    for batch in reader:
        rows = zip(*map(values_of, batch.columns), strict=True)
        for row in rows:
            fields = {name: _plain(value) for name, value in zip(names, row, strict=True)}
            out.write(before.encode() + json.dumps(fields, ensure_ascii=False).encode())
            before = ",\n"
    out.write(b"[]\n" if before == "[\n" else b"\n]\n")


def write_parquet(reader: Reader, out: IO[bytes]) -> None:
    """Write a result as Parquet, compressed with zstd."""
    parquet: Any = import_module("pyarrow.parquet")
    fields = [
        field.with_type(pa.string()) if pa.types.is_interval(field.type) else field
        for field in reader.schema
    ]
    named = zip(fields, _unique(reader.schema.names), strict=True)
    schema = pa.schema([field.with_name(name) for field, name in named])
    with parquet.ParquetWriter(out, schema, compression="zstd") as writer:
        for batch in reader:
            writer.write_batch(_converted(batch, schema))


FORMATS: dict[str, Write] = {"csv": write_csv, "json": write_json, "parquet": write_parquet}


def values_of(column: Array) -> list[Any]:
    """Return the values of a column; a map as a dictionary."""
    values: list[Any] = column.to_pylist()
    if not pa.types.is_map(column.type):
        return values
    return [None if value is None else _mapping(value) for value in values]


def text_of(value: object) -> str:
    """Return a value as text."""
    plain = _plain(value)
    return plain if isinstance(plain, str) else json.dumps(plain, ensure_ascii=False)


def _csv_type(kind: DataType) -> DataType:
    types = pa.types
    written = (
        types.is_integer,
        types.is_floating,
        types.is_boolean,
        types.is_decimal,
        types.is_date,
        types.is_string,
        types.is_large_string,
        types.is_null,
    )
    return kind if any(is_one(kind) for is_one in written) else pa.string()


def _converted(batch: Any, schema: Any) -> Any:
    columns = [
        column if column.type == field.type else _texts(column)
        for column, field in zip(batch.columns, schema, strict=True)
    ]
    return pa.record_batch(columns, schema=schema)


def _texts(column: Array) -> Array:
    values = [None if value is None else text_of(value) for value in values_of(column)]
    return pa.array(values, type=pa.string())


def _plain(value: Any) -> Any:
    """Return a value as a JSON value."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, decimal.Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.decode(errors="backslashreplace")
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}  # pyright: ignore
    if isinstance(value, list) and value and isinstance(value[0], tuple):  # a map in a value
        return _plain(_mapping(value))  # pyright: ignore
    if isinstance(value, list):
        return [_plain(each) for each in value]  # pyright: ignore
    return str(value)


def _mapping(pairs: Iterable[tuple[object, Any]]) -> dict[str, Any]:
    return {text_of(key): value for key, value in pairs}


def _unique(names: list[str]) -> list[str]:
    """Append a number to repeated names."""
    result: list[str] = []
    for name in names:
        free, number = name, 1
        while free in result:
            free, number = f"{name}_{number}", number + 1
        result.append(free)
    return result
