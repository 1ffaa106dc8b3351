"""JSON: in UTF-8, also of texts with bytes that are no UTF-8; and decoders for types of msgspec.

msgspec learns the fields of a type when the type is first used, and a second thread that uses the
type meanwhile crashes the process. Decoders of what several threads read are made here, one at a
time.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

import msgspec


def json_bytes(value: object) -> bytes:
    """Encode a value as JSON; lone surrogates become question marks.

    Python decodes a byte that is no UTF-8, in the name of a file, to a surrogate.
    """
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        text = json.dumps(msgspec.to_builtins(value), ensure_ascii=False)
        return text.encode(errors="replace")


T = TypeVar("T")

_lock = threading.Lock()


def decoder_of(
    kind: type[T], dec_hook: Callable[[type, Any], Any] | None = None
) -> msgspec.json.Decoder[T]:
    """Return the decoder of a type, the same one each time; ``dec_hook`` is that of msgspec."""
    with _lock:
        return _make(kind, dec_hook)


@cache
def _make(kind: type[T], dec_hook: Callable[[type, Any], Any] | None) -> msgspec.json.Decoder[T]:
    return msgspec.json.Decoder(kind, dec_hook=dec_hook)
