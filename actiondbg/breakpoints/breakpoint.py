"""A breakpoint, a watch or a catch, and the table of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

from actiondbg import protocol
from actiondbg.breakpoints.condition import parse_condition
from actiondbg.breakpoints.outcome_filter import parse_outcome
from actiondbg.breakpoints.spec import parse_spec
from actiondbg.errors import UsageError


@dataclass
class Breakpoint:
    """A breakpoint, a watch or a catch; it is changed through its Session.

    Attributes:
        id: from 1, never given out again.
        spec: what it stops at, as it was written; of a watch or a catch it begins with that word.
        condition: when it stops, as it was written, or None.
        enabled: whether it stops.
        temporary: whether it goes away when it has stopped.
        after: whether it stops after the action; with an outcome it does.
        ignore: how many further hits are passed over.
        hits: how often it was hit in this run, or the last one; passed-over hits count.
        commands: what a front end runs when it has stopped.
        outcome: after which outcomes it stops, as it was written, or None.
        watch: what it watches, or None.
        catch: what it catches, or None.
        predicate: called with each Stop that it makes; the tool goes on where it returns False.
    """

    id: int
    spec: str
    condition: str | None = None
    enabled: bool = True
    temporary: bool = False
    after: bool = False
    ignore: int = 0
    hits: int = 0
    commands: list[str] = field(default_factory=list[str])
    outcome: str | None = None
    watch: protocol.Watch | None = None
    catch: protocol.Catch | None = None
    predicate: Callable[[Any], bool] | None = None
    _terms: list[protocol.Term] = field(default_factory=list[protocol.Term], repr=False)
    _parsed: protocol.Condition | None = field(default=None, repr=False)
    _outcome: protocol.OutcomeFilter | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        self._terms = parse_spec(self.spec) if self.kind == "breakpoint" else []
        self.set_condition(self.condition)
        if self.outcome is not None:
            self._outcome = parse_outcome(self.outcome)
            self.after = True

    @property
    def kind(self) -> Literal["breakpoint", "watch", "catch"]:
        """What it is."""
        if self.watch is not None:
            return "watch"
        return "breakpoint" if self.catch is None else "catch"

    def set_condition(self, text: str | None) -> None:
        """Replace the condition, or keep the old one if the new one is written wrongly."""
        self._parsed = None if text is None else parse_condition(text)
        self.condition = text

    def count(self, hits: int) -> None:
        """Take over how often it was hit in this run; of the ignore count, that much is used."""
        self.ignore = max(0, self.ignore - max(0, hits - self.hits))
        self.hits = hits

    def on_wire(self) -> protocol.WireBreakpoint:
        """Return it as the agent gets it."""
        return protocol.WireBreakpoint(
            id=self.id,
            enabled=self.enabled,
            temporary=self.temporary,
            after=self.after,
            ignore=self.ignore,
            terms=self._terms,
            condition=self._parsed,
            outcome=self._outcome,
            watch=self.watch,
            catch=self.catch,
        )


class BreakpointTable:
    """The breakpoints, watches and catches of a session by id; they outlive the tool's runs."""

    def __init__(self) -> None:
        self._all: dict[int, Breakpoint] = {}
        self._newest = 0

    def __len__(self) -> int:
        return len(self._all)

    def all(self) -> list[Breakpoint]:
        """Return all, in the order of their ids."""
        return list(self._all.values())

    def get(self, number: int) -> Breakpoint:
        """Return one.

        Raises:
            UsageError: there is none of that id.
        """
        found = self._all.get(number)
        if found is not None:
            return found
        known = ", ".join(map(str, self._all)) or "none yet"
        raise UsageError(f"There is no breakpoint {number}: there are {known}.")

    def get_all(self, numbers: Iterable[int]) -> list[Breakpoint]:
        """Return several; raise UsageError if one of them does not exist."""
        return [self.get(number) for number in numbers]

    @property
    def next_id(self) -> int:
        """The id of the next one."""
        return self._newest + 1

    def add(self, new: Breakpoint) -> Breakpoint:
        """Take a new one up, whose id is ``next_id``."""
        self._newest = new.id
        self._all[new.id] = new
        return new

    def remove(self, number: int) -> None:
        """Remove one, if it is there."""
        self._all.pop(number, None)

    def remove_temporary(self, hit: Iterable[int]) -> None:
        """Remove those of the breakpoints that were hit that are temporary."""
        for number in hit:
            found = self._all.get(number)
            if found is not None and found.temporary:
                self.remove(number)

    def count(self, hits: Iterable[protocol.Hits]) -> None:
        """Take over the hits of this run."""
        for one in hits:
            if one.id in self._all:
                self._all[one.id].count(one.hits)

    def recount(self, hits: Iterable[protocol.Hits]) -> None:
        """Take over the hits of another place in the run: what is left to ignore is kept."""
        for one in hits:
            if one.id in self._all:
                self._all[one.id].hits = one.hits

    def forget_hits(self) -> None:
        """Begin to count from 0, for a new run."""
        for one in self._all.values():
            one.hits = 0

    def on_wire(self) -> list[protocol.WireBreakpoint]:
        """Return all as the agent gets them."""
        return [one.on_wire() for one in self._all.values()]


def breakpoint_script(breakpoints: Iterable[Breakpoint]) -> str:
    """Write the commands that set breakpoints again.

    ``$_`` stands for the id of the newest breakpoint, as the ids may be others when the script is
    read. Hits are not kept.
    """
    return "".join(f"{line}\n" for one in breakpoints for line in _script_lines(one))


def _script_lines(one: Breakpoint) -> Iterable[str]:
    words = _break_words(one) if one.kind == "breakpoint" else [one.spec]
    if one.condition is not None:
        words += ["if", one.condition]
    yield " ".join(words)
    if one.ignore:
        yield f"ignore $_ {one.ignore}"
    if not one.enabled:
        yield "disable $_"
    if one.commands:
        yield "commands $_"
        yield from (f"  {line}" for line in one.commands)
        yield "end"


def _break_words(one: Breakpoint) -> list[str]:
    words = ["tbreak" if one.temporary else "break"]
    if one.outcome is not None:
        quote = "'" if '"' in one.outcome else '"'
        plain = not any(c.isspace() or c in "'\"" for c in one.outcome)
        words += ["--outcome", one.outcome if plain else f"{quote}{one.outcome}{quote}"]
    elif one.after:
        words.append("--after")
    return [*words, one.spec]
