"""The typed messages of the breakpoint-controller protocol (docs/protocol.md).

One struct a message; encoding, decoding and validation are msgspec's.
"""

from __future__ import annotations

from typing import Any, ClassVar, Generic, Literal, TypeVar, get_args

import msgspec

from actiondbg.protocol.types import (
    Action,
    ActionSpec,
    Change,
    CheckpointOptions,
    Cursor,
    Edit,
    Excerpt,
    Frame,
    Hits,
    Key,
    Message,
    NamedValues,
    NamesWritten,
    Passed,
    Printed,
    Role,
    Shown,
    SkipRule,
    Statistic,
    Unit,
    Until,
    WireBreakpoint,
    WireError,
    Written,
)

VERSION = 5
MAX_LINE = 16 << 20  # bytes in one message, the newline included

Control = Literal["continue", "apply", "skip", "step", "next", "finish"]

# --- to the agent --------------------------------------------------------------


class Empty(Message):
    """An empty result."""


class HitsResult(Message):
    hits: list[Hits]


class Frames(Message):
    frames: list[Frame]


class Units(Message):
    units: list[Unit]


class Names(Message):
    names: list[str]


class Status(Message):
    """The state of the run.

    ``ordinal`` and ``event`` are the newest ones, ``tracked`` is the agent's memory in bytes,
    ``written`` the bytes of the tool's output, and ``passed`` the hits that the newest resume to an
    event passed, the oldest first. ``contexts`` counts the MLIR contexts so far, ``threads`` those
    threads that ran actions, and ``unfollowed`` the actions that ran while another thread was
    followed.
    """

    ordinal: int
    contexts: int
    threading: bool
    tracked: int
    event: int
    written: Written
    passed: list[Passed]
    threads: int = 1
    unfollowed: int = 0


class MLIRContext(Message):
    """An MLIR context of the process.

    Attributes:
        name: c0 for the first one, c1 for the next.
        thread: the thread that last ran an action in it, such as t0, or None.
        state: "stopped": the tool stands at an action in it; "idle", or "destroyed".
        actions: the number of its actions so far.
        mlir: the file of its MLIR, such as libtriton.so, or None where it is unknown.
    """

    name: str
    thread: str | None
    state: Literal["stopped", "idle", "destroyed"]
    actions: int
    mlir: str | None = None


class Thread(Message):
    """A thread that ran actions.

    Attributes:
        name: t0 for the first one, t1 for the next.
        id: its number in the system.
        title: its name in the system; None after its end.
        state: "stopped": the tool stands at its action; "waiting" with its next action until it is
            resumed; "running", perhaps outside of actions; or "ended".
        context: the context of its newest action, or None.
        actions: the number of its actions so far.
        unfollowed: the number of its actions that ran while another thread was followed.
    """

    name: str
    id: int
    title: str | None
    state: Literal["stopped", "waiting", "running", "ended"]
    context: str | None
    actions: int
    unfollowed: int


class MLIRContexts(Message):
    contexts: list[MLIRContext]


class Threads(Message):
    threads: list[Thread]


class Changes(Message):
    """The changes of an action.

    ``total`` counts all, ``counts`` those of each kind, and ``forgotten`` the oldest ones that are
    no longer held. ``undated`` counts others, of which a recording does not say whether they were
    made before the stop.
    """

    changes: list[Change]
    total: int
    counts: dict[str, int]
    forgotten: int
    undated: int


class Statistics(Message):
    """Counts by tag and name; ``uncounted`` actions ran before counting was on."""

    rows: list[Statistic]
    uncounted: int = 0


class Forked(Message):
    pid: int


class Count(Message):
    count: int


class Pipeline(Message):
    """A textual pass pipeline, from the outermost operation."""

    text: str


R = TypeVar("R", bound=Message)


class Request(Message, Generic[R]):
    """A request: ``method`` is its name on the wire, ``result`` the type R of the result."""

    method: ClassVar[str]
    result: ClassVar[type[Message]]

    def __init_subclass__(cls) -> None:
        base: Any = vars(cls)["__orig_bases__"][0]
        (cls.result,) = get_args(base)


class SetBreakpoints(Request[Empty]):
    method: ClassVar[str] = "breakpoints/set"
    breakpoints: list[WireBreakpoint]


class GetHits(Request[HitsResult]):
    method: ClassVar[str] = "breakpoints/hits"


class Resume(Request[Empty]):
    """Resume; with ``event`` up to that event without stops, keeping the newest ``keep`` hits."""

    method: ClassVar[str] = "resume"
    control: Control
    count: int = 1
    until: Until | None = None
    event: int | None = None
    keep: int = 0


class Interrupt(Request[Empty]):
    """A notification, without a response. With ``force``: stop at once, inside the action."""

    method: ClassVar[str] = "interrupt"
    force: bool = False


class GetFrames(Request[Frames], omit_defaults=True):
    """Describe the stack of actions; without ``units`` nothing is printed, which is faster."""

    method: ClassVar[str] = "backtrace"
    units: bool = True


class SelectFrame(Request[Frame]):
    method: ClassVar[str] = "frame/select"
    index: int


class GetAction(Request[Action]):
    method: ClassVar[str] = "action"


class GetContext(Request[Units]):
    method: ClassVar[str] = "context"


class GetCursor(Request[Cursor]):
    method: ClassVar[str] = "cursor/get"


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
    "id",
    "keys",
]


class MoveCursor(Request[Cursor], omit_defaults=True):
    """Move the cursor; docs/protocol.md lists the fields that each ``to`` needs."""

    method: ClassVar[str] = "cursor/move"
    to: Move
    index: int | None = None
    count: int | None = None
    name: str | None = None
    path: str | None = None
    line: int | None = None
    column: int | None = None


class GetLinks(Request[Units]):
    method: ClassVar[str] = "cursor/links"
    direction: Literal["defs", "users"]


class Print(Request[Printed]):
    """Print into the file ``path``.

    ``elide`` is the limit above which the elements of a constant are elided, ``id`` the operation
    of ``what="operation"``, ``names`` a file for the SSA names and keys of the values, and
    ``order`` that of an earlier reply: if it is the same now, the names are not written.
    """

    method: ClassVar[str] = "print"
    what: Literal["cursor", "action", "function", "module", "operation"]
    path: str
    generic: bool = False
    locations: bool = False
    skip_regions: bool = False
    mark: bool = False
    elide: int | None = None
    id: int | None = None
    names: str | None = None
    order: str | None = None


ALL_ELEMENTS = 1 << 30  # of a constant, where there is a limit


class GetExcerpt(Request[Excerpt], omit_defaults=True):
    """Describe the lines around the cursor, or around part ``part`` of the operation ``id``.

    ``before`` and ``after`` are numbers of lines, ``elide`` is as in ``Print``, and ``definitions``
    asks for the operations that define the operands.
    """

    method: ClassVar[str] = "excerpt"
    id: int | None = None
    part: int = 0
    before: int = 5
    after: int = 5
    elide: int = 16
    definitions: bool = False


class Asked(Message):
    """A question: the name of its request, and the parameters."""

    method: str
    params: object


class Answered(Message, omit_defaults=True):
    """The answer to a question, or the error."""

    result: msgspec.Raw = msgspec.Raw()
    error: WireError | None = None


class AnsweredTogether(Message):
    answers: list[Answered]


class AskTogether(Request[AnsweredTogether]):
    """Ask several questions, which are answered in one fork."""

    method: ClassVar[str] = "together"
    requests: list[Asked]


class WriteValueNames(Request[NamesWritten], omit_defaults=True):
    """Write the printer's names and the keys of the values in the operation ``id`` into a file.

    ``most`` is the largest number of operations in it for which that is done.
    """

    method: ClassVar[str] = "values"
    id: int
    path: str
    most: int = 100_000


class FindNamed(Request[NamedValues]):
    """Find the values that the input names so, such as %508."""

    method: ClassVar[str] = "values/named"
    name: str


class GetNames(Request[Names]):
    method: ClassVar[str] = "names"
    kind: Literal["tag", "pattern", "pass", "op", "func"]


class GetStatus(Request[Status]):
    method: ClassVar[str] = "status"


class GetContexts(Request[MLIRContexts]):
    """The MLIR contexts of the process."""

    method: ClassVar[str] = "contexts"


class GetThreads(Request[Threads]):
    """The threads that ran actions."""

    method: ClassVar[str] = "threads"


class GetChanges(Request[Changes]):
    """The first ``count`` changes of the selected frame's action, optionally of nested ones too."""

    method: ClassVar[str] = "changes"
    nested: bool
    count: int


class GetStatistics(Request[Statistics]):
    method: ClassVar[str] = "statistics"


class Fork(Request[Forked]):
    """Fork the stopped tool; the child connects to ``socket``, at the same stop.

    ``stdout``, ``stderr`` and ``output`` are files for its output to those descriptors and to every
    other file. The child is silent up to the event of ``muted``, and then for the rest of the bytes
    of stdout and stderr. The files of the descriptors ``shared`` have other writers too.
    """

    method: ClassVar[str] = "fork"
    role: Role
    socket: str = ""
    muted: Shown | None = None
    stdout: str | None = None
    stderr: str | None = None
    output: str | None = None
    shared: list[int] = msgspec.field(default_factory=list[int])


class Settled(Message):
    """The output files of a fork that replaces the tool.

    ``remade`` are the paths of files that were removed, moved or replaced, and have been made
    again; ``lost`` are sentences about files that could not be made again.
    """

    remade: list[str]
    lost: list[str]


class Settle(Request[Settled]):
    """Replace the tool now: truncate its files to the output of this timeline."""

    method: ClassVar[str] = "settle"


class Follow(Request[Empty]):
    """Open ``files``, which the tool has made again, in a process that was frozen before."""

    method: ClassVar[str] = "follow"
    files: list[str]


class Exit(Request[Empty]):
    """End the process as the fork ended that took its place; there is no reply.

    ``status`` is an exit status, negative for a signal.
    """

    method: ClassVar[str] = "exit"
    status: int


class NativeFunction(Message):
    """A function of an action.

    ``name`` is None where no symbol is at its address; ``place`` is FILE+OFFSET.
    """

    address: int
    name: str | None
    place: str


class NativeFunctions(Message):
    """The functions that the action calls, before which the tool is stopped."""

    functions: list[NativeFunction]


class PrepareNative(Request[NativeFunctions]):
    """Let a native debugger attach to this replica, and send its output to a file or a terminal."""

    method: ClassVar[str] = "native/prepare"
    output: str


class Skipping(Message):
    """Whether the action is skipped that the tool is stopped before; None after an action."""

    skipped: bool | None


class SetSkips(Request[Skipping]):
    """Skip these actions when they are dispatched; rules do not skip those in ``applied``.

    The edits are applied when the run reaches their events; those of the current event at once.
    """

    method: ClassVar[str] = "skips/set"
    ordinals: list[int]
    rules: list[SkipRule] = msgspec.field(default_factory=list[SkipRule])
    applied: list[int] = msgspec.field(default_factory=list[int])
    edits: list[Edit] = msgspec.field(default_factory=list[Edit])


class SetPlan(Request[Empty]):
    """Choose the candidates to skip; docs/protocol.md defines candidates."""

    method: ClassVar[str] = "plan/set"
    limit: int | None = None
    only: int | None = None
    apply: list[Key] | None = None
    skip: list[Key] | None = None
    specs: list[ActionSpec] = msgspec.field(default_factory=list[ActionSpec])
    always: list[str] = msgspec.field(default_factory=list[str])
    passes: list[str] = msgspec.field(default_factory=list[str])
    held: list[str] = msgspec.field(default_factory=list[str])
    record: str | None = None
    keys: bool = False


class BenefitChange(Message):
    """Another benefit of the patterns that a glob matches; None is above all others."""

    pattern: str
    benefit: int | None


class SetAlternative(Request[Empty]):
    """Change what this fork does: benefits, and pipelines that run after the tool's.

    ``report`` is a file for a ``Census`` of the final IR, written at the end of the fork, and
    ``ir`` one for its text.
    """

    method: ClassVar[str] = "alternative/set"
    benefits: list[BenefitChange] = msgspec.field(default_factory=list[BenefitChange])
    pipelines: list[str] = msgspec.field(default_factory=list[str])
    report: str | None = None
    ir: str | None = None


class RunAround(Request[Empty]):
    """Run pipelines on the operation of the pass before which this alternative is stopped.

    ``before`` run just before the pass, ``after`` just after it, also where it is skipped;
    ``instead`` run inside of its action, and the next control should skip it. Passes of these
    pipelines stop nowhere and are never skipped.
    """

    method: ClassVar[str] = "pass/around"
    before: list[str] = msgspec.field(default_factory=list[str])
    instead: list[str] = msgspec.field(default_factory=list[str])
    after: list[str] = msgspec.field(default_factory=list[str])


class Census(Message):
    """The number of operations of each name, and the number of patterns applied so far.

    ``rules`` has the number of skipped actions that each skip rule matched, ``skipped`` how many of
    these are skipped by no ordinal and no earlier rule, and ``benefits`` whether each changed
    benefit found a pattern.
    """

    operations: dict[str, int]
    applied: int
    rules: list[int]
    skipped: list[int]
    benefits: list[bool]


class GetCensus(Request[Census]):
    """The census of the IR at the stop."""

    method: ClassVar[str] = "census"


class LayoutCheck(Message):
    """A check of a layout or a fact in the process: whether it ``passed``, or ``why`` not."""

    name: str
    passed: bool
    why: str


class ToolFunction(Message):
    """A function or table of the tool's MLIR that the agent uses.

    Its ``state`` is "replaced", "called", "absent", or why it is not replaced.
    """

    symbol: str
    state: str


class Facts(Message):
    """What the agent knows of the tool's MLIR.

    The ``offsets`` are in bytes. There are no checks and offsets before it has seen IR.
    """

    checks: list[LayoutCheck]
    offsets: dict[str, int]
    functions: list[ToolFunction]


class GetFacts(Request[Facts]):
    """What the agent knows of the tool's MLIR, for a report about a build."""

    method: ClassVar[str] = "facts"


class GetPasses(Request[Names]):
    """The passes that the tool has registered."""

    method: ClassVar[str] = "passes"


class Tried(Message):
    """What a pass did to the IR of a fork.

    ``pipeline`` is the pass with the nesting that it needs, ``counts`` the changes of each kind,
    and ``error`` why it failed or cannot run, or None.
    """

    pipeline: str
    changed: bool
    counts: dict[str, int]
    error: str | None


class TryPass(Request[Tried]):
    """Run a pass on the IR of this fork, with the nesting that it needs."""

    method: ClassVar[str] = "pass/try"
    name: str


class OpenLog(Request[Empty], omit_defaults=True):
    """Write the hits of logging breakpoints into the file ``path``.

    With ``neighbourhoods``, a hit before an action has the neighbourhood of its operation.
    """

    method: ClassVar[str] = "log/open"
    path: str
    neighbourhoods: bool = False


class CloseLog(Request[Empty]):
    method: ClassVar[str] = "log/close"


class OpenLegalizations(Request[Empty]):
    """Write what dialect conversions that fail tried into the file ``path``.

    What was tried in vain for the operations of ``ids``, and for those whose name matches ``glob``,
    is written for conversions that succeed, too: for ``most`` operations. With ``reasons`` it is
    found out why types do not convert, which may change the run.
    """

    method: ClassVar[str] = "legalizations/open"
    path: str
    ids: list[int] = msgspec.field(default_factory=list[int])
    glob: str = ""
    most: int = 1000
    reasons: bool = False


class CloseLegalizations(Request[Empty]):
    method: ClassVar[str] = "legalizations/close"


class OpenRecording(Request[Empty]):
    """Record the actions from now on, with their lineage, into the file ``path``.

    For a fork that is at the beginning of the run.
    """

    method: ClassVar[str] = "recording/open"
    path: str


class RecordStage(Request[Empty]):
    """Add the IR as it is now to the recording."""

    method: ClassVar[str] = "recording/stage"


class CloseRecording(Request[Empty]):
    """End the recording."""

    method: ClassVar[str] = "recording/close"


class CountOperations(Request[Count]):
    """Count the operations of a name, in the module or in the cursor's function."""

    method: ClassVar[str] = "count"
    glob: str
    function: bool


class SetOptions(Request[Empty], omit_defaults=True):
    """Set the options that are not None.

    ``threads_wait``: whether the other threads wait while one is at a stop.
    """

    method: ClassVar[str] = "options/set"
    verify_each_action: bool | None = None
    count: bool | None = None
    stop_on_crash: bool | None = None
    threads_wait: bool | None = None
    checkpoints: CheckpointOptions | None = None


class GetPipeline(Request[Pipeline]):
    """The pass of the selected frame, or the pass around it."""

    method: ClassVar[str] = "pipeline"
