"""The connection: framing, and which answer belongs to which request."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator

import pytest

from actiondbg import protocol
from actiondbg.errors import AgentError, ControlRefused, NoSuchUnit, ProtocolError
from actiondbg.protocol.client import Client, ConnectionEnded, decode_notification
from actiondbg.support.interrupts import HeldInterrupts
from tests.paths import ROOT

SECONDS = 20  # a wait that a defect would make endless


class Agent:
    """The other end: it reads requests and writes whatever a test wants."""

    def __init__(self, connection: socket.socket) -> None:
        self.socket = connection
        self._file = connection.makefile("rb")

    def read(self) -> dict[str, object]:
        return json.loads(self._file.readline())

    def write(self, *messages: object) -> None:
        for message in messages:
            self.socket.sendall(json.dumps(message).encode() + b"\n")

    def close(self) -> None:
        self._file.close()
        self.socket.close()


@pytest.fixture
def ends() -> Iterator[tuple[Client, Agent]]:
    ours, theirs = socket.socketpair()
    client, agent = Client(ours, None, HeldInterrupts()), Agent(theirs)
    yield client, agent
    client.close()
    agent.close()


def answer(id: int, result: object) -> dict[str, object]:
    return {"jsonrpc": "2.0", "id": id, "result": result}


def meanwhile(action: Callable[[], None]) -> None:
    threading.Thread(target=action, daemon=True).start()


def test_request_and_response(ends: tuple[Client, Agent]) -> None:
    client, agent = ends
    agent.write(answer(1, {"names": ["a", "b"]}))
    assert client.request(protocol.GetNames(kind="tag"), SECONDS).names == ["a", "b"]
    assert agent.read() == {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "names",
        "params": {"kind": "tag"},
    }


def test_a_notification_has_no_id(ends: tuple[Client, Agent]) -> None:
    client, agent = ends
    client.notify(protocol.Interrupt())
    assert agent.read() == {"jsonrpc": "2.0", "method": "interrupt", "params": {"force": False}}


def test_a_message_in_pieces_and_two_in_one(ends: tuple[Client, Agent]) -> None:
    client, agent = ends
    lines = b"".join(
        json.dumps(answer(id, {"names": [name]})).encode() + b"\n"
        for id, name in ((1, "é" * 300_000), (2, "second"))
    )

    def write() -> None:
        for at in range(0, len(lines), 70_001):
            agent.socket.sendall(lines[at : at + 70_001])

    meanwhile(write)
    assert client.request(protocol.GetNames(kind="tag"), SECONDS).names == ["é" * 300_000]
    assert client.request(protocol.GetNames(kind="tag"), SECONDS).names == ["second"]


def test_response_to_an_interrupted_request_is_ignored(ends: tuple[Client, Agent]) -> None:
    client, agent = ends
    client.send(protocol.GetNames(kind="op"))
    agent.write(answer(1, {"names": ["late"]}), answer(2, {"names": ["asked for"]}))
    assert client.request(protocol.GetNames(kind="tag"), SECONDS).names == ["asked for"]


def test_notifications_during_a_request_are_kept_in_order(ends: tuple[Client, Agent]) -> None:
    client, agent = ends
    sent = [protocol.Exited(actions=count, status=1, written=(5, 0)) for count in (3, 4, 5)]
    exits = [
        {
            "jsonrpc": "2.0",
            "method": "exited",
            "params": {"actions": each.actions, "status": 1, "written": [5, 0]},
        }
        for each in sent
    ]
    agent.write(*exits[:2], answer(1, {"names": []}), exits[2])
    assert client.request(protocol.GetNames(kind="tag"), SECONDS).names == []
    assert [decode_notification(client.receive(SECONDS)) for _ in sent] == sent


def test_a_notification_is_no_response(ends: tuple[Client, Agent]) -> None:
    client, _ = ends
    number = client.send(protocol.GetCursor())
    with pytest.raises(ProtocolError, match="which was not made"):
        client.is_response(protocol.Incoming(jsonrpc="2.0", method="exited"), number)


def test_request_times_out(ends: tuple[Client, Agent]) -> None:
    with pytest.raises(TimeoutError):
        ends[0].request(protocol.GetNames(kind="tag"), 0.01)


@pytest.mark.parametrize(
    ("code", "kind"),
    [(-32004, ControlRefused), (-32002, NoSuchUnit), (-32602, AgentError), (-1, AgentError)],
)
def test_errors_become_exceptions(
    ends: tuple[Client, Agent], code: int, kind: type[AgentError]
) -> None:
    client, agent = ends
    error = {"code": code, "message": "there is no such thing: look elsewhere"}
    agent.write({"jsonrpc": "2.0", "id": 1, "error": error})
    with pytest.raises(kind) as raised:
        client.request(protocol.GetCursor(), SECONDS)
    assert type(raised.value) is kind
    assert str(raised.value) == "There is no such thing: look elsewhere."


@pytest.mark.parametrize(
    ("sent", "shown"),
    [
        ("no such unit", "No such unit."),
        ("no such unit.", "No such unit."),
        ("which unit?", "Which unit?"),
    ],
)
def test_an_error_is_one_sentence(ends: tuple[Client, Agent], sent: str, shown: str) -> None:
    client, agent = ends
    agent.write({"jsonrpc": "2.0", "id": 1, "error": {"code": -1, "message": sent}})
    with pytest.raises(AgentError) as raised:
        client.request(protocol.GetCursor(), SECONDS)
    assert str(raised.value) == shown


@pytest.mark.parametrize(
    ("message", "complaint"),
    [
        (answer(2, {"names": []}), "answered request 2, which was not made"),
        (answer(7, {}), "answered request 7, which was not made"),
        (answer(1, {"name": []}), "sent an invalid names"),
        (answer(1, {"names": [1]}), r"Expected `str`, got `int` - at `\$\.names\[0\]`"),
        ({"jsonrpc": "1.0", "id": 1, "result": {}}, "invalid message"),
        ({"jsonrpc": "2.0", "id": 1, "result": {}, "more": 1}, "unknown field `more`"),
        ([1, 2], "invalid message"),
        ({"jsonrpc": "2.0"}, "neither a response nor a notification"),
    ],
)
def test_invalid_responses(ends: tuple[Client, Agent], message: object, complaint: str) -> None:
    client, agent = ends
    agent.write(message)
    with pytest.raises(ProtocolError, match=complaint):
        client.request(protocol.GetNames(kind="tag"), SECONDS)


def test_an_empty_line_is_no_message(ends: tuple[Client, Agent]) -> None:
    client, agent = ends
    agent.socket.sendall(b"\n")
    agent.write(answer(1, {"names": []}))
    with pytest.raises(ProtocolError, match="invalid message, ''"):
        client.request(protocol.GetNames(kind="tag"), SECONDS)
    assert client.receive(SECONDS).id == 1


@pytest.mark.parametrize("difference", [-1, 1])
def test_another_version_is_refused_with_any_hello(
    ends: tuple[Client, Agent], difference: int
) -> None:
    client, agent = ends
    version = protocol.VERSION + difference
    params = {"protocol": version, "of another version": True}
    agent.write({"jsonrpc": "2.0", "method": "hello", "params": params})
    with pytest.raises(ProtocolError, match=rf"has version {version} of the protocol"):
        client.receive_hello()


def test_end_of_the_connection(ends: tuple[Client, Agent]) -> None:
    client, agent = ends
    agent.socket.sendall(b'{"jsonrpc"')
    agent.close()
    with pytest.raises(ConnectionEnded) as raised:
        client.request(protocol.GetCursor(), SECONDS)
    assert raised.value.rest == b'{"jsonrpc"'
    with pytest.raises(ConnectionEnded):
        client.request(protocol.GetCursor(), SECONDS)


def test_a_reset_connection_has_ended(ends: tuple[Client, Agent]) -> None:
    client, agent = ends
    client.send(protocol.GetCursor())
    agent.close()  # with unread data, which resets the connection
    with pytest.raises(ConnectionEnded):
        client.receive(SECONDS)


def test_a_line_that_is_too_long(
    ends: tuple[Client, Agent], monkeypatch: pytest.MonkeyPatch
) -> None:
    client, agent = ends
    monkeypatch.setattr(protocol, "MAX_LINE", 1000)
    agent.socket.sendall(b"x" * 2000)
    with pytest.raises(ProtocolError, match="without a newline"):
        client.receive(SECONDS)
    with pytest.raises(AgentError, match="more than the protocol's"):
        client.send(protocol.MoveCursor(to="value", name="x" * 2000))


def test_the_page_has_the_version() -> None:
    title = (ROOT / "docs" / "protocol.md").read_text().partition("\n")[0]
    assert title == f"# The breakpoint-controller protocol, version {protocol.VERSION}"
