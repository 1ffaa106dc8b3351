"""What the messages of the breakpoint-controller protocol are made of (docs/protocol.md)."""

from __future__ import annotations

from typing import Literal

import msgspec

When = Literal["before", "after", "during"]
UnitState = Literal["alive", "erased", "replaced"]
Result = Literal["succeeded", "unchanged", "failed", "skipped"]
ResultFilter = Literal["succeeded", "failed", "changed", "unchanged", "skipped"]
CatchKind = Literal["failure", "crash", "verify", "diagnostic", "nonconvergence"]
ChangeKind = Literal["inserted", "erased", "replaced", "modified", "moved"]
Role = Literal["tool", "checkpoint", "replica", "trial"]
Written = tuple[int, int]  # bytes to stdout and stderr, since the start of the run


class Message(msgspec.Struct, rename="camel", forbid_unknown_fields=True, kw_only=True):
    """Anything on the wire: unknown fields are errors, names are camelCase there."""


# --- what is looked at -----------------------------------------------------------


class Unit(Message):
    """An IR unit, described; ``text`` is one line of IR, None when it is erased.

    ``id`` is the operation's number of creation, from 1; of a block, region or value, that of the
    operation that holds or defines it.
    """

    kind: Literal["operation", "block", "region", "value"]
    name: str | None
    state: UnitState
    text: str | None
    location: str | None
    id: int | None = None


class Frame(Message, kw_only=True):
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
    id: int | None = None


class Action(Frame, kw_only=True):
    """A frame's action in full."""

    full_name: str
    labels: list[str]
    iteration: int | None
    text: str
    full_location: str | None
    when: When


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


# --- what an action did ----------------------------------------------------------


class Outcome(Message):
    """What an action did: ``how`` of a fold or a conversion, and the ``values`` of a fold."""

    result: Result
    reasons: list[str] = []
    how: str | None = None
    values: list[str] = []


class ValueRef(Message):
    """A value: result number ``result`` of the operation ``id``.

    A block argument has the op "block argument", and the id of the operation that holds its block.
    """

    id: int | None
    op: str
    result: int


class Change(Message):
    """A change of the IR, by the action ``ordinal``.

    Of a block, ``op`` and ``id`` are those of the operation that holds it. ``by`` is of "replaced"
    only; ``guess`` says that the action was not seen doing it.
    """

    kind: ChangeKind
    what: Literal["operation", "block"]
    op: str
    id: int | None
    by: list[ValueRef] | None
    location: str | None
    ordinal: int
    guess: bool


class Culprit(Message):
    """The action that did what a watch saw or a catch caught."""

    ordinal: int
    tag: str
    name: str
    guess: bool


class Statistic(Message):
    """What the actions of one tag and name came to; ``seconds`` without the time at stops.

    ``attempts`` is the sum of succeeded, failed and skipped; unchanged is a part of succeeded.
    """

    tag: str
    name: str
    attempts: int
    succeeded: int
    unchanged: int
    failed: int
    skipped: int
    changes: int
    seconds: float


# --- what a breakpoint is made of -------------------------------------------------


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


class OutcomeFilter(Message):
    """Which outcomes to stop after: any of ``results``, or a reason; all empty: every outcome."""

    results: list[ResultFilter] = []
    reason: str | None = None


class Watch(Message):
    """What is watched: an operation, an attribute of it, or how many operations there are."""

    kind: Literal["operation", "count", "attribute"]
    id: int | None = None
    glob: str | None = None
    attribute: str | None = None
    exact: bool = False


class Catch(Message):
    """An event that is no action; ``glob`` of a diagnostic's text, or of a pass that fails."""

    kind: CatchKind
    glob: str | None = None


class WireBreakpoint(Message):
    """A breakpoint, a watch or a catch as the agent gets it.

    One with ``log`` does not stop: it writes the stop as a line into the open log.
    """

    id: int
    enabled: bool
    temporary: bool
    after: bool
    ignore: int
    terms: list[Term]
    condition: Condition | None
    outcome: OutcomeFilter | None = None
    watch: Watch | None = None
    catch: Catch | None = None
    log: bool = False


class Hits(Message):
    """How often a breakpoint was hit in this run."""

    id: int
    hits: int


class Until(Message):
    """Where a resume ends at the latest: at a match; ``within`` the parent action.

    With ``own``, the outcome "changed" looks at the action's own changes, not at those of nested
    actions.
    """

    terms: list[Term]
    condition: Condition | None
    within: bool
    after: bool = False
    outcome: OutcomeFilter | None = None
    own: bool = False


# --- going to and fro ------------------------------------------------------------


class Passed(Message):
    """A hit that a resume to an event passed: the ``during``-th stop after ``event``, or there."""

    event: int
    during: int


class CheckpointOptions(Message):
    """The tool takes checkpoints of itself, so far apart, within so much memory; 0 ms: none."""

    socket: str
    milliseconds: int
    megabytes: int


class Key(Message):
    """What names an action in every run: the ``nth`` operation, from 1, on which it was tried."""

    tag: str
    name: str
    location: str | None
    function: str | None
    nth: int


# --- the envelope ----------------------------------------------------------------


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
