"""JSON in UTF-8, also of texts that hold bytes of file names that are no UTF-8."""

from __future__ import annotations

import json

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
