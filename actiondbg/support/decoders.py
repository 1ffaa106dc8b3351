"""Decoders of JSON for types of msgspec.

msgspec learns the fields of a type when the type is first used, and a second thread that uses the
type meanwhile crashes the process. Decoders of what several threads read are made here, one at a
time.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")

_lock = threading.Lock()


def decoder_of(
    kind: type[T], dec_hook: Callable[[type, Any], Any] | None = None
) -> msgspec.json.Decoder[T]:
    """Return the decoder of a type; the same one each time.

    Args:
        kind: the type.
        dec_hook: converts values of types that msgspec does not know.
    """
    with _lock:
        return _make(kind, dec_hook)


@cache
def _make(kind: type[T], dec_hook: Callable[[type, Any], Any] | None) -> msgspec.json.Decoder[T]:
    return msgspec.json.Decoder(kind, dec_hook=dec_hook)
