"""The typed messages of the breakpoint-controller protocol (docs/protocol.md).

One struct a message; encoding, decoding and validation are msgspec's.
"""

from __future__ import annotations

from typing import ClassVar, Generic, Literal, TypeVar

import msgspec

VERSION = 1
MAX_LINE = 16 << 20  # bytes in one message, the newline included

Control = Literal["continue", "apply", "skip", "step", "next", "finish"]
Reason = Literal["start", "breakpoint", "step", "next", "finish", "until", "interrupt"]
UnitState = Literal["alive", "erased", "replaced"]


class Message(msgspec.Struct, rename="camel", forbid_unknown_fields=True, kw_only=True):
    """Anything on the wire: unknown fields are errors, names are camelCase there."""


# --- what messages are made of -------------------------------------------------


class Unit(Message):
    """An IR unit, described; ``text`` is one line of IR, None when it is erased."""

    kind: Literal["operation", "block", "region", "value"]
    name: str | None
    state: UnitState
    text: str | None
    location: str | None


class Frame(Message):
    """One action on the stack of actions; index 0 is the innermost."""

    index: int
    ordinal: int
    tag: str
    name: str
    depth: int
    op: str | None
    location: str | None
    function: str | None
    units: list[Unit]


class Action(Frame):
    """A frame's action in full."""

    full_name: str
    labels: list[str]
    iteration: int | None
    text: str
    full_location: str | None
    when: Literal["before", "after"]


class Cursor(Message):
    """Where the user looks: ``path`` is region, block, operation, ... from the root."""

    unit: Unit
    function: str | None
    path: list[int]


class Printed(Message):
    """What a print request wrote; lines count from 1."""

    bytes: int
    mark_first: int | None
    mark_last: int | None
    generic: bool
    path: list[int]


class Term(Message, omit_defaults=True):
    """One part of a breakpoint's SPEC."""

    kind: Literal["tag", "pattern", "pass", "fold", "name", "op", "func", "location", "ordinal"]
    glob: str | None = None
    path: str | None = None
    line: int | None = None
    last_line: int | None = None
    column: int | None = None
    ordinal: int | None = None


Operator = Literal["and", "or", "not", "==", "!=", "<", "<=", ">", ">=", "~", "!~"]


class Condition(Message, omit_defaults=True):
    """A node of a condition: a field, or a value, or a call with its args.

    One struct with three faces, as msgspec has no union of structs without a tag.
    """

    field: str | None = None
    value: int | str | None = None
    call: Operator | None = None
    args: list[Condition] | None = None


class WireBreakpoint(Message):
    """A breakpoint as the agent gets it."""

    id: int
    enabled: bool
    temporary: bool
    after: bool
    ignore: int
    terms: list[Term]
    condition: Condition | None


class Hits(Message):
    """How often a breakpoint was hit in this run."""

    id: int
    hits: int


class Until(Message):
    """Where a resume ends at the latest: at a match; ``within`` the parent action."""

    terms: list[Term]
    condition: Condition | None
    within: bool


# --- from the agent ------------------------------------------------------------


class Hello(Message):
    """The first message of an agent."""

    method: ClassVar[str] = "hello"
    protocol: int
    agent: str
    llvm: str
    pid: int
    parent: int
    assertions: bool
    capabilities: list[str]


class Stopped(Message):
    """The tool waits before or after an action."""

    method: ClassVar[str] = "stopped"
    when: Literal["before", "after"]
    reason: Reason
    ordinal: int
    tag: str
    name: str
    op: str | None
    location: str | None
    function: str | None
    depth: int
    breakpoints: list[int]
    skipped: bool


class Exited(Message):
    """The tool is about to end of itself."""

    method: ClassVar[str] = "exited"
    actions: int
    hits: list[Hits] = []


class Crashed(Message):
    """The tool is about to die of a signal, in this action (ordinal 0: in none)."""

    method: ClassVar[str] = "crashed"
    ordinal: int
    tag: str
    name: str
    op: str | None
    depth: int
    hits: list[Hits] = []


# --- to the agent --------------------------------------------------------------


class Empty(Message):
    """A result that says no more than done."""


class HitsResult(Message):
    hits: list[Hits]


class Frames(Message):
    frames: list[Frame]


class Units(Message):
    units: list[Unit]


class Names(Message):
    names: list[str]


class Status(Message):
    """What the agent knows of the run: ``ordinal`` of the newest action, bytes held."""

    ordinal: int
    contexts: int
    threading: bool
    tracked: int


R = TypeVar("R", bound=Message)


class Request(Message, Generic[R]):
    """A request: ``method`` on the wire, ``result`` is the type R of the answer."""

    method: ClassVar[str]
    result: ClassVar[type[Message]] = Empty


class SetBreakpoints(Request[Empty]):
    method: ClassVar[str] = "breakpoints/set"
    breakpoints: list[WireBreakpoint]


class GetHits(Request[HitsResult]):
    method: ClassVar[str] = "breakpoints/hits"
    result: ClassVar[type[Message]] = HitsResult


class Resume(Request[Empty]):
    method: ClassVar[str] = "resume"
    control: Control
    count: int = 1
    until: Until | None = None


class Interrupt(Request[Empty]):
    """A notification: it is not answered."""

    method: ClassVar[str] = "interrupt"


class Backtrace(Request[Frames]):
    method: ClassVar[str] = "backtrace"
    result: ClassVar[type[Message]] = Frames


class SelectFrame(Request[Frame]):
    method: ClassVar[str] = "frame/select"
    result: ClassVar[type[Message]] = Frame
    index: int


class GetAction(Request[Action]):
    method: ClassVar[str] = "action"
    result: ClassVar[type[Message]] = Action


class GetContext(Request[Units]):
    method: ClassVar[str] = "context"
    result: ClassVar[type[Message]] = Units


class GetCursor(Request[Cursor]):
    method: ClassVar[str] = "cursor/get"
    result: ClassVar[type[Message]] = Cursor


Move = Literal[
    "context",
    "parent",
    "child",
    "previous",
    "next",
    "function",
    "module",
    "def",
    "user",
    "value",
    "symbol",
    "location",
    "action",
]


class MoveCursor(Request[Cursor], omit_defaults=True):
    """Move the cursor; docs/protocol.md says which fields each ``to`` needs."""

    method: ClassVar[str] = "cursor/move"
    result: ClassVar[type[Message]] = Cursor
    to: Move
    index: int | None = None
    count: int | None = None
    name: str | None = None
    path: str | None = None
    line: int | None = None
    column: int | None = None


class GetLinks(Request[Units]):
    method: ClassVar[str] = "cursor/links"
    result: ClassVar[type[Message]] = Units
    direction: Literal["defs", "users"]


class Print(Request[Printed]):
    """Print into the file ``path``; ``elide``: constants of more elements are elided."""

    method: ClassVar[str] = "print"
    result: ClassVar[type[Message]] = Printed
    what: Literal["cursor", "action", "function", "module"]
    path: str
    generic: bool = False
    locations: bool = False
    skip_regions: bool = False
    mark: bool = False
    elide: int | None = None


class GetNames(Request[Names]):
    method: ClassVar[str] = "names"
    result: ClassVar[type[Message]] = Names
    kind: Literal["tag", "pattern", "pass", "op"]


class GetStatus(Request[Status]):
    method: ClassVar[str] = "status"
    result: ClassVar[type[Message]] = Status


class WireError(msgspec.Struct, forbid_unknown_fields=True):
    """The error object of JSON-RPC 2.0."""

    code: int
    message: str


class Incoming(msgspec.Struct, forbid_unknown_fields=True):
    """The envelope of what an agent sends: a response or a notification."""

    jsonrpc: Literal["2.0"]
    id: int | None = None
    method: str | None = None
    params: msgspec.Raw = msgspec.Raw()
    result: msgspec.Raw = msgspec.Raw()
    error: WireError | None = None


NOTIFICATIONS: dict[str, type[Message]] = {
    cls.method: cls for cls in (Hello, Stopped, Exited, Crashed)
}
