"""Kernels' data as JSON, and back."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

import msgspec

from actiondbg.support.decoders import decoder_of

T = TypeVar("T")


def to_json(value: object) -> bytes:
    """Return JSON, indented; a path becomes its text.

    Raises:
        TypeError: a value is not plain data.
    """
    return msgspec.json.format(msgspec.json.encode(value, enc_hook=_path_text), indent=1) + b"\n"


def from_json(text: bytes, kind: type[T]) -> T:
    """Return the value of JSON.

    Raises:
        msgspec.DecodeError: the text is not JSON, or does not fit the type.
    """
    return decoder_of(kind, _path).decode(text)


def _path_text(value: object) -> object:
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"{type(value).__name__} is not plain data")


def _path(kind: type, value: object) -> object:
    if kind is Path and isinstance(value, str):
        return Path(value)
    raise TypeError(f"{kind.__name__} is not plain data")
