"""The bases of all structs, and the envelopes of messages."""

from __future__ import annotations

import msgspec


class Arguments(msgspec.Struct, rename="camel", kw_only=True, frozen=True):
    """The arguments of a request; a client may send more fields than are declared."""


class NoArguments(Arguments, frozen=True):
    """The arguments of a request that needs none."""


class Body(msgspec.Struct, rename="camel", kw_only=True, omit_defaults=True):
    """A part of what the server sends; fields with their default are left out."""


class IncomingMessage(msgspec.Struct, kw_only=True):
    """A message of the client: a request, or the response to a reverse request."""

    seq: int
    type: str
    command: str = ""
    arguments: msgspec.Raw = msgspec.Raw()
    success: bool = True
    message: str | None = None


class Response(msgspec.Struct, kw_only=True, omit_defaults=True):
    """The response to a request."""

    seq: int
    type: str
    request_seq: int
    success: bool
    command: str
    message: str | None = None
    body: object = None


class Event(msgspec.Struct, kw_only=True, omit_defaults=True):
    """An event."""

    seq: int
    type: str
    event: str
    body: object = None


class Request(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A reverse request, which the client answers."""

    seq: int
    type: str
    command: str
    arguments: object = None
