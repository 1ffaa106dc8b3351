"""What watches, catches and breakpoints look at: TARGET, EVENT and OUTCOME.

TARGET of a watch has a form of ``TARGETS``. ``cursor``, ``@12`` (an operation's id), ``%3`` or
``%x#1`` (an SSA name at the stop): an operation; ``attribute NAME of`` one of these: its attribute;
``op:GLOB count``: the number of operations. EVENT of a catch: a kind of ``EVENTS``, perhaps with a
glob.

OUTCOME of an action after which a breakpoint stops: one or more, separated by commas, any of which
suffices: ``succeeded``, ``failed``, ``changed``, ``unchanged``, ``skipped``, and ``reason:GLOB``
for the reasons of a failure. ``succeeded`` includes unchanged actions, and ``changed`` every action
that changed the IR, with any result.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NamedTuple, get_args

from actiondbg.breakpoints.spec import no_condition
from actiondbg.errors import UsageError
from actiondbg.protocol import Catch, CatchKind, OutcomeFilter, Watch
from actiondbg.protocol.types import ResultFilter, WatchKind
from actiondbg.support.counts import joined
from actiondbg.support.globs import check_glob

# The forms of TARGET, with what is watched. A word in capitals is a placeholder; cursor stands for
# any operation.
TARGETS = {
    "cursor": "the operation of the cursor",
    "@ID": "an operation",
    "%SSA": "the operation of a value",
    "op:GLOB count": "the number of operations of a name",
    "attribute NAME of cursor": "an attribute of an operation, which may be @ID or %SSA too",
}

_NAME = r"""("[^"]+"|'[^']+'|\S+)"""
_ATTRIBUTE = re.compile(rf"attribute\s+{_NAME}\s+of\s+(\S+)")
_COUNT = re.compile(rf"op:\s*{_NAME}\s+count")
_CATCH = re.compile(
    r"""(?P<event>\S*)(?:\s+(?!if\s)(?P<glob>"[^"]*"|'[^']*'|.*?))?(?:\s+if\s+(?P<condition>\S.*))?""",
    re.DOTALL,
)
_PLAIN = re.compile(r"[\w.*?:@-]+( [\w.*?:@-]+)*")  # needs no quotes where words are split
_ID = re.compile(r"@([0-9]{1,18})")
_VALUE = re.compile(r"%[\w$.-]+(?:#[0-9]+)?")


class Target(NamedTuple):
    """A parsed TARGET, before its operation is resolved."""

    kind: WatchKind
    operation: str | int | None = None  # "cursor", an id or an SSA name; None for a count
    name: str | None = None  # the attribute's name, or the glob of counted operations

    def __str__(self) -> str:
        """Return the target as a user writes it."""
        name = quoted(self.name or "")
        if self.kind == "count":
            return f"op:{name} count"
        operation = f"@{self.operation}" if isinstance(self.operation, int) else self.operation
        return f"attribute {name} of {operation}" if self.kind == "attribute" else f"{operation}"

    def on_wire(self, id: int | None, exact: bool) -> Watch:
        """Return the watch of this target, with the id of its operation; None for a count."""
        glob, attribute = (self.name, None) if self.kind == "count" else (None, self.name)
        return Watch(kind=self.kind, id=id, glob=glob, attribute=attribute, exact=exact)


def parse_target(text: str) -> Target:
    """Parse a TARGET; raises UsageError with the position of a syntax error."""
    stripped = text.strip()
    if match := _COUNT.fullmatch(stripped):
        glob = _bare(match[1])
        check_glob(glob, text, text.index(glob))
        return Target("count", name=glob)
    if match := _ATTRIBUTE.fullmatch(stripped):
        return Target("attribute", parse_operation(match[2]), _bare(match[1]))
    operation = _operation(stripped)
    if operation is None:
        raise UsageError(f"{stripped!r} cannot be watched: give {joined(TARGETS, 'or')}.")
    return Target("operation", operation)


def parse_operation(text: str) -> str | int:
    """Parse ``cursor``, ``@12`` or ``%3``; return the id as a number, otherwise the word.

    Raises:
        UsageError: the text is none of these.
    """
    operation = _operation(text.strip())
    if operation is None:
        raise UsageError(
            f"{text.strip()!r} is not an operation: give cursor, an id such as @12, or an SSA name "
            "such as %3."
        )
    return operation


class OperationGlob(NamedTuple):
    """Operations by their name."""

    glob: str


def parse_wanted(text: str) -> str | int | OperationGlob:
    """Parse a reference to operations: ``cursor``, ``@12``, ``%3`` or ``op:GLOB``.

    Raises:
        UsageError: the text is none of these.
    """
    kind, colon, glob = text.partition(":")
    if kind != "op" or not colon:
        return parse_operation(text)
    if not glob:
        raise UsageError("'op:' lacks a name: give one, such as op:memref.*.")
    check_glob(glob, text, len("op:"))
    return OperationGlob(glob)


def _operation(text: str) -> str | int | None:
    if text == "cursor" or _VALUE.fullmatch(text):
        return text
    match = _ID.fullmatch(text)
    return int(match[1]) if match and int(match[1]) else None


def watch_spec(watch: Watch) -> str:
    """Return the command that sets a watch again, in other runs too."""
    option = "--exact " if watch.exact else ""
    return f"watch {option}{Target(watch.kind, watch.id, watch.glob or watch.attribute)}"


def quoted(text: str) -> str:
    """Return a word as commands take it, in quotes if it needs them."""
    return text if re.fullmatch(r"[\w.*?:@-]+", text) else _in_quotes(text)


def _in_quotes(text: str) -> str:
    quote = "'" if '"' in text else '"'
    return f"{quote}{text}{quote}"


def _bare(text: str) -> str:
    """Return a word without the quotes around it."""
    return text[1:-1] if text[0] in "\"'" and len(text) > 2 and text[-1] == text[0] else text


class Event(NamedTuple):
    """An event to catch."""

    label: str  # what it is
    glob: str | None = None  # what its glob matches; None if it takes none

    @property
    def about(self) -> str:
        """Return its label, and what its glob matches."""
        glob = "" if self.glob is None else f"; GLOB matches {self.glob}"
        return f"{self.label[0].lower()}{self.label[1:]}{glob}"


EVENTS: dict[CatchKind, Event] = {
    "failure": Event("Failure of a pass", "the argument or the class of the pass"),
    "crash": Event("Crash of the tool"),
    "verify": Event("Invalid IR"),
    "diagnostic": Event("Diagnostic", "its text"),
    "nonconvergence": Event("Greedy rewrite that does not converge"),
}
assert tuple(EVENTS) == get_args(CatchKind)
_KINDS: dict[str, CatchKind] = {kind: kind for kind in EVENTS}


def split_catch(text: str) -> tuple[str, str | None, str | None]:
    """Split ``EVENT [GLOB] [if EXPR]``; a glob with the word ``if`` is in quotes.

    Returns:
        The first word, the glob and the condition; none of them is checked.

    Raises:
        UsageError: nothing follows ``if``.
    """
    match = _CATCH.fullmatch(text.strip())
    assert match is not None
    event, glob, condition = match.group("event", "glob", "condition")
    if condition is None and text.split()[-1:] == ["if"]:
        raise no_condition(text, text.rindex("if"))
    return event, None if glob in (None, "", "''", '""') else _bare(glob), condition


def parse_catch(kind: str, glob: str | None) -> Catch:
    """Check an EVENT, a kind of ``EVENTS``, with a glob or without.

    Raises:
        UsageError: there is no such event, or it takes no glob.
    """
    known = _KINDS.get(kind)
    if known is None:
        raise UsageError(f"There is no event {kind!r} to catch: take {', '.join(EVENTS)}.")
    if glob is None:
        return Catch(kind=known)
    if EVENTS[known].glob is None:
        others = joined(sorted(each for each, event in EVENTS.items() if event.glob))
        raise UsageError(
            f"catch {known} takes no glob, got {glob!r}: leave it out; only {others} take one."
        )
    check_glob(glob, glob, 0)
    return Catch(kind=known, glob=glob)


def catch_spec(kind: str, glob: str | None) -> str:
    """Return the command that sets a catch."""
    if glob is None:
        return f"catch {kind}"
    is_plain = _PLAIN.fullmatch(glob) and "if" not in glob.split()
    return f"catch {kind} {glob if is_plain else _in_quotes(glob)}"


_RESULTS: dict[str, ResultFilter] = {word: word for word in get_args(ResultFilter)}
_REASON = "reason:"


def parse_outcome(text: str) -> OutcomeFilter:
    """Parse an OUTCOME to the filter for the agent.

    A comma in a glob belongs to it, unless the name of an outcome follows.

    Raises:
        UsageError: a syntax error, with its position.
    """
    words, reason = split_outcome(text, _RESULTS)
    return OutcomeFilter([_RESULTS[word] for word in words], reason)


def split_outcome(text: str, results: Collection[str]) -> tuple[list[str], str | None]:
    """Return the words of an OUTCOME, of the valid ``results``, and the glob of the reason or None.

    Raises:
        UsageError: a syntax error, with its position.
    """
    words: list[str] = []
    reason: str | None = None
    offset = 0
    for part in text.split(","):
        word = part.strip()
        if word in results:
            words.append(word)
        elif reason is not None and not word.startswith(_REASON):
            reason += f",{part.rstrip()}"
        else:
            at = offset + len(part) - len(part.lstrip())
            _check(word, results, reason, text, at)
            reason = _reason(word, text, at)
        offset += len(part) + 1
    if reason is not None:
        check_glob(reason, text, text.index(_REASON) + len(_REASON))
    return words, reason


def _check(word: str, results: Collection[str], before: str | None, text: str, at: int) -> None:
    """Refuse an unknown outcome, or a second reason."""
    if not word.startswith(_REASON):
        raise UsageError(
            f"There is no outcome {word!r}: take {', '.join(results)} or reason:GLOB.", text, at
        )
    if before is not None:
        raise UsageError("Only one reason can be given: join them in one glob.", text, at)


def _reason(word: str, text: str, at: int) -> str:
    glob = word[len(_REASON) :].strip('"')
    if not glob:
        raise UsageError("Nothing follows reason: give a glob, or * for any.", text, at)
    return glob
