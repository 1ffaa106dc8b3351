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


class OutgoingMessage(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A response, an event or a reverse request; the fields that it lacks are left out."""

    seq: int = 0
    type: str
    request_seq: int | None = None
    success: bool | None = None
    command: str | None = None
    message: str | None = None
    event: str | None = None
    body: object = None
    arguments: object = None
