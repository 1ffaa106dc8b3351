"""What can be said of the server of the Debug Adapter Protocol without a tool."""

from __future__ import annotations

import io

import pytest

from actiondbg.commands.dap.breakpoint_groups import Wanted
from actiondbg.commands.dap.debuggee import AttachRequestArguments, LaunchRequestArguments
from actiondbg.commands.dap.docs_table import requests_table
from actiondbg.commands.dap.protocol import BrokenMessage, framed, read_message
from tests.paths import ROOT

_PAGE = (ROOT / "docs" / "dap.md").read_text()


def test_the_page_has_the_table_of_requests() -> None:
    assert requests_table() in _PAGE


@pytest.mark.parametrize("kind", [LaunchRequestArguments, AttachRequestArguments])
def test_the_page_has_each_field_of_configurations(
    kind: type[LaunchRequestArguments | AttachRequestArguments],
) -> None:
    fields = kind.__struct_encode_fields__
    assert len(fields) > 5
    assert [each for each in fields if f"`{each}`" not in _PAGE] == []


def test_messages_are_framed() -> None:
    stream = io.BytesIO(framed(b'{"a": 1}') + framed("é".encode()))
    assert read_message(stream) == b'{"a": 1}'
    assert read_message(stream) == "é".encode()
    assert read_message(stream) is None


@pytest.mark.parametrize(
    ("text", "named"),
    [
        (b"Content-Length: x\r\n\r\n", "'x'"),
        (b"Content-Length: 99999999999\r\n\r\n", "64 MiB"),
        (b"Content-Type: json\r\n\r\n{}", "no Content-Length"),
        (b"hello\r\n\r\n", "hello"),
        (b"Content-Length: 5\r\n\r\n{", "1 of 5 bytes"),
        (b"Content-Length: 5\r\n", "within a header"),
        (b"x" * 9000, "not a line"),
    ],
)
def test_broken_framing_is_an_error(text: bytes, named: str) -> None:
    with pytest.raises(BrokenMessage, match=named):
        read_message(io.BytesIO(text))


def test_wanted_breakpoints_are_compared_by_their_fields() -> None:
    assert Wanted(line="break x") == Wanted(line="break x")
    assert Wanted(line="break x") != Wanted(line="break x", condition="depth > 1")
