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


def test_a_request_and_its_answer(ends: tuple[Client, Agent]) -> None:
    client, agent = ends
    agent.write(answer(1, {"names": ["a", "b"]}))
    assert client.request(protocol.GetNames(kind="tag")).names == ["a", "b"]
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
    assert client.request(protocol.GetNames(kind="tag")).names == ["é" * 300_000]
    assert client.request(protocol.GetNames(kind="tag")).names == ["second"]


def test_an_answer_to_an_interrupted_request_is_passed_over(ends: tuple[Client, Agent]) -> None:
    client, agent = ends
    client.send(protocol.GetNames(kind="op"))
    agent.write(answer(1, {"names": ["late"]}), answer(2, {"names": ["asked for"]}))
    assert client.request(protocol.GetNames(kind="tag")).names == ["asked for"]


def test_notifications_during_a_request_are_kept(ends: tuple[Client, Agent]) -> None:
    client, agent = ends
    params = {"actions": 3, "status": 1, "written": [5, 0]}
    exited = {"jsonrpc": "2.0", "method": "exited", "params": params}
    agent.write(exited, answer(1, {"names": []}))
    assert client.request(protocol.GetNames(kind="tag")).names == []
    told = protocol.Exited(actions=3, status=1, written=(5, 0))
    assert decode_notification(client.receive()) == told


def test_a_wait_that_is_bounded(ends: tuple[Client, Agent]) -> None:
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
        client.request(protocol.GetCursor())
    assert type(raised.value) is kind
    assert str(raised.value) == "There is no such thing: look elsewhere."


@pytest.mark.parametrize(
    ("message", "complaint"),
    [
        (answer(7, {}), "answered request 7, which was not made"),
        (answer(1, {"name": []}), "sent an invalid names"),
        (answer(1, {"names": [1]}), r"Expected `str`, got `int` - at `\$\.names\[0\]`"),
        ({"jsonrpc": "1.0", "id": 1, "result": {}}, "invalid message"),
        ({"jsonrpc": "2.0", "id": 1, "result": {}, "more": 1}, "unknown field `more`"),
        ([1, 2], "invalid message"),
        ({"jsonrpc": "2.0"}, "neither a response nor a notification"),
    ],
)
def test_answers_that_are_wrong(
    ends: tuple[Client, Agent], message: object, complaint: str
) -> None:
    client, agent = ends
    agent.write(message)
    with pytest.raises(ProtocolError, match=complaint):
        client.request(protocol.GetNames(kind="tag"))


@pytest.mark.parametrize("difference", [-1, 1])
def test_another_version_is_refused_whatever_its_hello_holds(
    ends: tuple[Client, Agent], difference: int
) -> None:
    client, agent = ends
    version = protocol.VERSION + difference
    params = {"protocol": version, "of another version": True}
    agent.write({"jsonrpc": "2.0", "method": "hello", "params": params})
    with pytest.raises(ProtocolError, match=rf"has version {version} of the protocol"):
        client.receive_hello()


def test_the_end(ends: tuple[Client, Agent]) -> None:
    client, agent = ends
    agent.socket.sendall(b'{"jsonrpc"')
    agent.close()
    with pytest.raises(ConnectionEnded) as raised:
        client.request(protocol.GetCursor())
    assert raised.value.rest == b'{"jsonrpc"'
    with pytest.raises(ConnectionEnded):
        client.request(protocol.GetCursor())


def test_a_line_that_is_too_long(
    ends: tuple[Client, Agent], monkeypatch: pytest.MonkeyPatch
) -> None:
    client, agent = ends
    monkeypatch.setattr(protocol, "MAX_LINE", 1000)
    agent.socket.sendall(b"x" * 2000)
    with pytest.raises(ProtocolError, match="without a newline"):
        client.receive()
    with pytest.raises(AgentError, match="more than the protocol's"):
        client.send(protocol.MoveCursor(to="value", name="x" * 2000))
