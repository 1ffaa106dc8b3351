"""JSON of texts that are no UTF-8."""

from __future__ import annotations

import json

import msgspec
import pytest

from actiondbg.support.decoders import json_bytes


class Named(msgspec.Struct):
    name: str
    line: int | None = None


@pytest.mark.parametrize("name", ["a", "é", "caf\udce9", "\ud800", '"\n'])
def test_a_byte_that_is_no_text_becomes_a_question_mark(name: str) -> None:
    expected = name.encode(errors="replace").decode()
    assert json.loads(json_bytes({"of": [Named(name, 4)]})) == {
        "of": [{"name": expected, "line": 4}]
    }
