"""Every message of docs/protocol.md, byte for byte, as the Python side writes and reads it.

A line of tests/golden/protocol.jsonl is an object with ``direction``, ``method`` (whose request,
answer or notification it is) and ``line``. The agent writes keys sorted, the front end in the order
of the structs.
"""

from __future__ import annotations

import json
import re
from typing import Any, cast, get_args

import msgspec
import pytest

from actiondbg import protocol
from actiondbg.errors import error_of_code
from actiondbg.protocol.client import decode_envelope, decode_notification, encode_request
from tests.elements import some
from tests.paths import GOLDEN, ROOT
from tests.unit.protocol import stop_pages

LINES = [json.loads(line) for line in (GOLDEN / "protocol.jsonl").read_text().splitlines()]
REQUESTS: dict[str, type[protocol.Request[Any]]] = {
    kind.method: kind
    for kind in cast("list[type[protocol.Request[Any]]]", protocol.Request.__subclasses__())
}
UNANSWERED = {protocol.Interrupt.method, protocol.Exit.method}
MANUAL = (ROOT / "docs/protocol.md").read_text()


def lines(direction: str) -> list[Any]:
    chosen = [one for one in LINES if one["direction"] == direction]
    return [pytest.param(one["method"], one["line"].encode(), id=one["method"]) for one in chosen]


def as_agent(message: dict[str, Any]) -> bytes:
    return msgspec.json.encode(message, order="sorted")


@pytest.mark.parametrize(("method", "line"), lines("to agent"))
def test_requests(method: str, line: bytes) -> None:
    envelope = json.loads(line)
    assert envelope["method"] == method
    message = msgspec.json.decode(json.dumps(envelope["params"]), type=REQUESTS[method])
    assert encode_request(message, envelope.get("id")) == line + b"\n"


@pytest.mark.parametrize(("method", "line"), lines("from agent"))
def test_notifications(method: str, line: bytes) -> None:
    incoming = decode_envelope(line)
    message: dict[str, Any] = {"jsonrpc": incoming.jsonrpc}
    if incoming.method is not None:
        assert incoming.method == method
        message |= {"method": method, "params": decode_notification(incoming)}
    elif incoming.error is not None:
        message |= {"id": incoming.id, "error": incoming.error}
        assert str(error_of_code(incoming.error.code, incoming.error.message))
    else:
        result = msgspec.json.decode(incoming.result, type=REQUESTS[method].result)
        message |= {"id": incoming.id, "result": result}
    assert as_agent(message) == line


def test_every_message_has_a_line() -> None:
    sent = {one["method"] for one in LINES if one["direction"] == "to agent"}
    assert sent == set(REQUESTS)
    received = {one["method"] for one in LINES if one["direction"] == "from agent"}
    assert received >= set(protocol.NOTIFICATIONS)
    assert received >= set(REQUESTS) - UNANSWERED, "answers"


def test_every_optional_field_occurs_null_and_set() -> None:
    seen: dict[str, set[bool]] = {}

    def visit(value: Any) -> None:
        if isinstance(value, dict):
            for key, inner in cast("dict[str, Any]", value).items():
                seen.setdefault(key, set()).add(inner is None)
                visit(inner)
        elif isinstance(value, list):
            for inner in cast("list[Any]", value):
                visit(inner)

    for one in LINES:
        visit(json.loads(one["line"]))
    nullable: set[str] = set()
    for kind in (
        protocol.Stopped,
        protocol.Unit,
        protocol.Action,
        protocol.Cursor,
        protocol.Outcome,
        protocol.Change,
        protocol.ValueRef,
        protocol.WireBreakpoint,
        protocol.Watch,
        protocol.Catch,
        protocol.Until,
        protocol.OutcomeFilter,
        protocol.Print,
        protocol.Hello,
        protocol.Resume,
        protocol.Fork,
        protocol.SetPlan,
        protocol.Key,
    ):
        for field in some(msgspec.structs.fields(kind)):
            if type(None) in getattr(field.type, "__args__", ()):
                nullable.add(field.encode_name)
    assert "function" in nullable and len(nullable) > 20
    nullable.remove("created")  # unknown in recordings only
    assert {name for name in nullable if seen[name] != {True, False}} == set()


def test_the_fields_of_a_stop_are_written_out() -> None:
    assert stop_pages.page_with_table(MANUAL) == MANUAL
    messages = stop_pages.MESSAGES.read_text()
    assert stop_pages.whole_messages(messages) == messages


def test_the_manual_names_every_method_and_field() -> None:
    for method, kind in (REQUESTS | protocol.NOTIFICATIONS).items():
        assert f"`{method}`" in MANUAL
        fields = [field.encode_name for field in msgspec.structs.fields(kind)]
        assert [one for one in fields if not re.search(rf"\b{one}\b", MANUAL)] == [], method


@pytest.mark.parametrize(("method", "line"), lines("to agent"))
def test_unknown_fields_are_refused(method: str, line: bytes) -> None:
    params = {**json.loads(line)["params"], "unknown": 1}
    with pytest.raises(msgspec.ValidationError, match="unknown"):
        msgspec.json.decode(json.dumps(params), type=REQUESTS[method])


def test_every_kind_of_term_is_described() -> None:
    (kind,) = (each for each in msgspec.structs.fields(protocol.Term) if each.name == "kind")
    for word in some(get_args(kind.type)):
        assert f'| `{{"kind": "{word}", ' in MANUAL
