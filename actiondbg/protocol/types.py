"""The field types of the messages of the breakpoint-controller protocol (docs/protocol.md)."""

from __future__ import annotations

from typing import Any, Literal, get_args

import msgspec

When = Literal["before", "after", "during"]
UnitState = Literal["alive", "erased", "replaced"]
Result = Literal["succeeded", "unchanged", "failed", "skipped"]
RESULTS: tuple[Result, ...] = get_args(Result)
ResultFilter = Literal["succeeded", "failed", "changed", "unchanged", "skipped"]
SpecKind = Literal[  # of the terms of a SPEC that take a glob
    "tag", "pattern", "pass", "fold", "op", "func", "loc", "context", "mlir", "in"
]
CatchKind = Literal["failure", "crash", "verify", "diagnostic", "nonconvergence"]
ChangeKind = Literal["inserted", "erased", "replaced", "modified", "moved"]
Role = Literal["tool", "checkpoint", "replica", "trial"]
Written = tuple[int, int]  # bytes to stdout and stderr, since the start of the run
Shown = tuple[int, int, int]  # as Written, and the event up to which all output was written


KEY_MARK = "\x1a"


class Message(msgspec.Struct, rename="camel", forbid_unknown_fields=True, kw_only=True):
    """Anything on the wire: unknown fields are errors, names are camelCase there."""


# --- IR units and actions ---------------------------------------------------------


class Unit(Message):
    """The description of an IR unit; ``text`` is one line of IR, None for an erased unit.

    ``id`` is the operation's id; for a block, region or value, the id of the operation that holds
    or defines it. In the agent's ``text``, KEY SCOPE HINT between two ``KEY_MARK`` stand for each
    value: SCOPE is the id of the operation within which values have names of their own, HINT the
    name that the value suggests: empty for a number, "arg" for a numbered argument.
    """

    kind: Literal["operation", "block", "region", "value"]
    name: str | None
    state: UnitState
    text: str | None
    location: str | None
    id: int | None = None


class Line(Message):
    """A line of IR: the beginning of an operation, a later part of it, or the label of a block.

    ``id`` is the operation's id, and ``part`` the number of its regions before the line; for a
    label, the id of the operation that holds the block. ``depth`` is the number of operations
    around it.
    """

    kind: Literal["operation", "part", "label"]
    id: int | None
    part: int
    depth: int
    text: str


class Excerpt(Message):
    """Consecutive lines of IR.

    ``current`` is the index of the line that was asked for, ``definitions`` are the operations that
    define its operands and are not among ``lines``, and ``scope`` is the id of the operation within
    which values have names of their own; see ``Unit`` for ``text``.
    """

    lines: list[Line]
    current: int
    more_before: bool
    more_after: bool
    scope: int | None
    function: str | None
    definitions: list[Line]


class NamedValue(Message):
    """A value that the input names: its key, and the operation ids of its scope and its definer.

    The definer of a block argument is the operation around the block.
    """

    key: str
    scope: int | None
    id: int | None


class NamedValues(Message):
    """The values that the input names so, also those that are erased, and the cursor's scope."""

    scope: int | None
    values: list[NamedValue]


class StopCursor(Message):
    """The cursor at a stop: its unit's kind, the unit's operation, and why the cursor is there.

    ``by`` is "action" for the unit of the action, "replaced" for its replacement, "inserted" for
    what a pattern inserted in its place, "around" for the unit of an action around it, and
    "failing" for the operation that fails.
    """

    kind: Literal["operation", "block", "region", "value"]
    id: int | None
    op: str
    by: Literal["action", "replaced", "inserted", "around", "failing"]


class NamesWritten(Message):
    """Whether the names were written: not for too many operations."""

    written: bool


class ActionRef(msgspec.Struct, kw_only=True):
    """A reference to an action.

    Not frozen, as messages derive from it, too. A frozen struct may: msgspec allows it, but type
    checkers do not know that.

    Attributes:
        ordinal: its number in dispatch order, from 1.
        tag: its kind.
        name: its subject.
        op: the name of its operation, or None.
        location: FILE:LINE:COL of the operation, or None.
        function: the symbol that holds the operation, or None.
        context: its MLIR context, such as c0, or None where it is unknown.
        mlir: the file of its MLIR, such as libtriton.so; None if the process has one MLIR.
    """

    ordinal: int
    tag: str
    name: str
    op: str | None = None
    location: str | None = None
    function: str | None = None
    context: str | None = None
    mlir: str | None = None

    @property
    def title(self) -> str:
        """Its ordinal, tag and name, such as ``#17 fold (arith.addi)``."""
        name = self.name or (f"on {self.op}" if self.op else "nameless")
        return f"#{self.ordinal} {self.tag} ({name})"


def ref_fields(action: ActionRef) -> dict[str, Any]:
    """Return the fields of a reference, to make another struct that holds one."""
    return {name: getattr(action, name) for name in ActionRef.__struct_fields__}


class Frame(ActionRef, Message, kw_only=True):
    """One action on the stack of actions; index 0 is the innermost."""

    index: int
    depth: int
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
    """The IR unit in view: ``path`` is region, block, operation, ... from the root."""

    unit: Unit
    function: str | None
    path: list[int]


class Printed(Message):
    """The result of a print request; lines count from 1.

    ``order`` identifies the operations and their order, on which the printer's names depend; empty
    where no names were asked for.
    """

    bytes: int
    mark_first: int | None
    mark_last: int | None
    generic: bool
    path: list[int]
    order: str = ""


# --- outcomes and changes ---------------------------------------------------------


class Outcome(Message):
    """The outcome of an action: ``how`` for folds and conversions, and the ``values`` of a fold.

    ``unheard`` is whether the agent cannot hear the reason of a pattern that fails.
    """

    result: Result
    reasons: list[str] = []
    how: str | None = None
    values: list[str] = []
    unheard: bool = False


class ValueRef(Message):
    """A value: result number ``result`` of the operation ``id``.

    For a block argument, ``op`` is "block argument" and ``id`` is of the operation that holds the
    block.
    """

    id: int | None
    op: str
    result: int


class Change(Message):
    """A change of the IR, by the action ``ordinal``.

    For a block, ``op`` and ``id`` are those of the operation that holds it. Only "replaced" has
    ``by``. A ``guess`` is a change whose action was not observed.
    """

    kind: ChangeKind
    what: Literal["operation", "block"]
    op: str
    id: int | None
    by: list[ValueRef] | None
    location: str | None
    ordinal: int
    guess: bool


class Difference(Message):
    """The first action of a replay that differs from the run, and what each of them dispatched."""

    ordinal: int
    run: str
    replay: str


class PassRun(Message):
    """The run of a pass in which an action is, or which it is.

    Attributes:
        name: the pass.
        number: of the run among those of this pass, from 1.
        begun: the number of runs of passes that have begun so far.
    """

    name: str
    number: int
    begun: int

    def __str__(self) -> str:
        return self.name if self.number == 1 else f"{self.name}#{self.number}"


class Created(Message):
    """How many operations and blocks were created so far: their ids and keys count from 1."""

    operations: int = 0
    blocks: int = 0


class Culprit(Message):
    """The action that a watch or a catch attributes its finding to."""

    ordinal: int
    tag: str
    name: str
    guess: bool


class Statistic(Message):
    """The counts of the actions of one tag and name; ``seconds`` excludes the time at stops.

    ``seconds`` is None over an import, which has no times.
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
    seconds: float | None


# --- breakpoints ------------------------------------------------------------------


class Term(Message, omit_defaults=True):
    """One part of a breakpoint's SPEC; ``nth`` is the number of the run of a pass around."""

    kind: Literal[SpecKind, "name", "location", "ordinal"]
    glob: str | None = None
    nth: int | None = None
    path: str | None = None
    line: int | None = None
    last_line: int | None = None
    column: int | None = None
    ordinal: int | None = None


Operator = Literal["and", "or", "not", "==", "!=", "<", "<=", ">", ">=", "~", "!~"]


class Condition(Message, omit_defaults=True):
    """A node of a condition: a field, or a value, or a call with its args.

    One struct for the three, as msgspec has no union of structs without a tag.
    """

    field: str | None = None
    value: int | str | None = None
    call: Operator | None = None
    args: list[Condition] | None = None


def comparison(field: str, operator: Operator, value: int) -> Condition:
    """Return the condition that compares a field with a number."""
    return Condition(call=operator, args=[Condition(field=field), Condition(value=value)])


class OutcomeFilter(Message):
    """The outcomes to stop after: any of ``results``, or a reason; if both are empty, all."""

    results: list[ResultFilter] = []
    reason: str | None = None


WatchKind = Literal["operation", "count", "attribute"]


class Watch(Message):
    """The target of a watch: an operation, an attribute of it, or a number of operations."""

    kind: WatchKind
    id: int | None = None
    glob: str | None = None
    attribute: str | None = None
    exact: bool = False


class Catch(Message):
    """An event that is no action; ``glob`` matches a diagnostic's text, or the failing pass."""

    kind: CatchKind
    glob: str | None = None


class WireBreakpoint(Message):
    """A breakpoint, a watch or a catch on the wire.

    With ``log`` it does not stop: it writes the stop as a line into the open log.
    """

    id: int
    enabled: bool = True
    temporary: bool = False
    after: bool = False
    ignore: int = 0
    terms: list[Term] = []
    condition: Condition | None = None
    outcome: OutcomeFilter | None = None
    watch: Watch | None = None
    catch: Catch | None = None
    log: bool = False


class ActionSpec(Message):
    """The actions for which all terms and the condition hold."""

    terms: list[Term]
    condition: Condition | None = None


class SkipRule(ActionSpec):
    """A standing rule: skip the actions that match, from an ordinal up to another.

    ``last`` is None for no limit.
    """

    first: int = 1
    last: int | None = None


class Edit(Message):
    """An edit of this timeline: the text in the file ``path``, or passes, for an operation.

    ``event`` is where it is applied; ``generic`` is whether the text is in the generic form.
    """

    event: int
    id: int
    path: str | None = None
    pipeline: str | None = None
    generic: bool = False


class Hits(Message):
    """The number of hits of a breakpoint in this run, and of actions that matched its SPEC."""

    id: int
    hits: int
    matched: int = 0


class Until(Message):
    """The end of a resume: the next match; ``within`` the parent action.

    With ``own``, the outcome "changed" ignores the changes of nested actions.
    """

    terms: list[Term] = []
    condition: Condition | None = None
    within: bool = False
    after: bool = False
    outcome: OutcomeFilter | None = None
    own: bool = False


def until_action(ordinal: int, after: bool = False) -> Until:
    """Return the end of a resume before an action, or after it."""
    return Until(terms=[Term(kind="ordinal", ordinal=ordinal)], after=after)


# --- time travel ------------------------------------------------------------------


class Passed(Message):
    """A hit on the way to an event: at ``event``, or the ``during``-th stop after it."""

    event: int
    during: int


class CheckpointOptions(Message):
    """The spacing and the memory limit of automatic checkpoints; none at 0 milliseconds."""

    socket: str
    milliseconds: int
    megabytes: int


class Key(Message):
    """The identity of an action across runs; ``nth`` counts the operations it was tried on."""

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
    """The envelope of an agent's message: a response or a notification."""

    jsonrpc: Literal["2.0"]
    id: int | None = None
    method: str | None = None
    params: msgspec.Raw = msgspec.Raw()
    result: msgspec.Raw = msgspec.Raw()
    error: WireError | None = None
