"""A breakpoint, a watch or a catch, and the table of them."""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from actiondbg import protocol
from actiondbg.breakpoints.resolution import ActionNames, UnresolvedNames, Vocabulary, resolve_spec
from actiondbg.breakpoints.selection import Selection
from actiondbg.breakpoints.spec import ATTEMPT_KINDS, attempted_spec
from actiondbg.breakpoints.targets import catch_spec, watch_spec
from actiondbg.errors import UsageError
from actiondbg.protocol.tags import FOLD_TAG, PATTERN_TAG
from actiondbg.support.counts import counted, no_such
from actiondbg.support.globs import compiled_glob


@dataclass
class Breakpoint:
    """A breakpoint, a watch or a catch; change it through its Session.

    Attributes:
        id: from 1, never reused.
        selection: the actions at which it stops; for a watch or a catch, those in which a change or
            an event counts.
        enabled: whether it stops.
        temporary: whether its first stop deletes it.
        ignore: the number of hits that are still ignored.
        ignore_each_run: the number of hits that each run ignores from its beginning; with 0 a new
            run ignores what the run before has left.
        found: what this run, or the last one, has found of it.
        was_hit: whether there was a hit in this run, perhaps on a timeline that time travel left.
        commands: the commands that a front end runs at its stops.
        watch: the target of a watch, or None.
        catch: the event of a catch, or None.
        predicate: called with each stop; where it returns False, the tool resumes.
        unresolved: the names of the SPEC that may not be known, until the breakpoint is hit.
        is_passed: whether it only counts hits for now.
    """

    id: int
    selection: Selection
    enabled: bool = True
    temporary: bool = False
    ignore: int = 0
    found: protocol.Hits = field(default_factory=lambda: protocol.Hits(id=0, hits=0))
    was_hit: bool = False
    commands: list[str] = field(default_factory=list[str])
    watch: protocol.Watch | None = None
    catch: protocol.Catch | None = None
    predicate: Callable[[Any], bool] | None = None
    unresolved: UnresolvedNames | None = field(default=None, repr=False, compare=False)
    is_passed: bool = field(default=False, repr=False, compare=False)
    ignore_each_run: int = field(default=0, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._check(self.selection)

    @property
    def spec(self) -> str:
        """The SPEC, in which known names have their kind; for a watch or a catch, the command."""
        if self.watch is not None:
            return watch_spec(self.watch)
        if self.catch is not None:
            return catch_spec(self.catch.kind, self.catch.glob)
        return self.selection.spec or ""

    @property
    def hits(self) -> int:
        """The number of hits in this run, or the last one; ignored hits count."""
        return self.found.hits

    @property
    def matched(self) -> int:
        """The number of actions in this run, or the last one, that matched the SPEC.

        Those count, too, for which the condition or the outcome does not hold.
        """
        return self.found.matched

    @property
    def condition(self) -> str | None:
        """The condition as the user wrote it, or None."""
        return self.selection.condition

    @property
    def outcome(self) -> str | None:
        """The OUTCOME as the user wrote it, or None."""
        return self.selection.outcome

    @property
    def after(self) -> bool:
        """Whether it stops after the action; always with an outcome, or a condition about it."""
        return self.selection.at_ends

    @property
    def kind(self) -> Literal["breakpoint", "watch", "catch"]:
        """The kind: "breakpoint", "watch" or "catch"."""
        if self.watch is not None:
            return "watch"
        return "breakpoint" if self.catch is None else "catch"

    @property
    def is_at_attempts(self) -> bool:
        """Whether it may stop at attempts of patterns or at folds, as far as its terms tell."""
        return self.kind == "breakpoint" and not any(map(_excludes_attempts, self.selection.terms))

    def names_attempt(self, action: protocol.ActionRef) -> bool:
        """Whether it stops before attempts, and names the pattern or the operation of this one."""
        return (
            self.kind == "breakpoint"
            and self.enabled
            and not self.after
            and any(
                term.kind == ATTEMPT_KINDS.get(action.tag)
                and compiled_glob(term.glob or "*").fullmatch(action.name)
                for term in self.selection.terms
            )
        )

    @property
    def pending(self) -> str | None:
        """A clause about the names of the SPEC that are not known; None if all are.

        They are looked up at the first use after the breakpoint was set or resolved.
        """
        return None if self.unresolved is None else self.unresolved.clause

    def resolve(self, names: Vocabulary) -> bool:
        """Look up the names of a pending SPEC again; return whether its meaning has changed."""
        resolved = resolve_spec(self.spec, names)
        self.unresolved = resolved.unresolved
        if resolved.spec == self.spec:
            return False
        self.selection = replace(self.selection, spec=resolved.spec)
        return True

    def meet(self, action: protocol.ActionRef) -> bool:
        """Look up the names of a pending SPEC in an action that it has hit, as ``resolve`` does."""
        changed = self.resolve(ActionNames(action))
        self.unresolved = None  # it was hit, by whatever name
        return changed

    def set_condition(self, text: str | None) -> None:
        """Replace the condition; an error keeps the old one."""
        changed = replace(self.selection, condition=text)
        self._check(changed)
        self.selection = changed

    def _check(self, selection: Selection) -> None:
        if selection.is_about_outcome and self.kind != "breakpoint":
            raise UsageError(
                f"The condition of a {self.kind} cannot be about the outcome, which is unknown "
                "while the action runs: use the other fields."
            )

    def count(self, found: protocol.Hits) -> None:
        """Set the hits of this run, and reduce the ignore count by the new ones."""
        self.ignore = max(0, self.ignore - max(0, found.hits - self.hits))
        self.recount(found)

    def recount(self, found: protocol.Hits) -> None:
        """Set the hits after time travel; the ignore count is kept."""
        self.found = found
        self.was_hit = self.was_hit or found.hits > 0

    @property
    def words(self) -> str:
        """Where it stops, in words."""
        words = self.spec if self.condition is None else f"{self.spec} if {self.condition}"
        if self.outcome:
            return f"{words}, after the action if {self.outcome}"
        return words + (", after the action" if self.after else "")

    @property
    def is_unhit(self) -> bool:
        """Whether it is an enabled breakpoint, no watch or catch, that had no hit in this run."""
        return self.kind == "breakpoint" and self.enabled and not self.was_hit

    @property
    def why_never_hit(self) -> str:
        """Why there was no hit in this run, in a clause."""
        if not self.matched:
            return "no action matched its SPEC"
        parts = [("condition", self.condition), ("outcome", self.outcome)]
        lacking = " and ".join(name for name, given in parts if given is not None)
        none = f"none its {lacking}" if lacking else "none has ended"
        return f"{counted(self.matched, 'action')} matched its SPEC, {none}"

    def on_wire(self) -> protocol.WireBreakpoint:
        """Return the breakpoint for the wire."""
        return protocol.WireBreakpoint(
            id=self.id,
            enabled=self.enabled,
            temporary=self.temporary and not self.is_passed,
            after=self.after,
            ignore=self.ignore,
            terms=self.selection.terms,
            condition=self.selection.parsed_condition,
            outcome=self.selection.parsed_outcome,
            watch=self.watch,
            catch=self.catch,
            log=self.is_passed,
        )


def _excludes_attempts(term: protocol.Term) -> bool:
    if term.kind == "tag":
        tag = compiled_glob(term.glob or "*")
        return not any(tag.fullmatch(one) for one in (PATTERN_TAG, FOLD_TAG))
    return term.kind in ("pass", "ordinal")


def catches_on_wire(catches: Iterable[protocol.Catch]) -> list[protocol.WireBreakpoint]:
    """Return catches for the wire, with ids from 1."""
    return [
        Breakpoint(id, Selection(), catch=catch).on_wire() for id, catch in enumerate(catches, 1)
    ]


class BreakpointTable:
    """The table of a session's breakpoints by id; they outlive the tool's runs."""

    def __init__(self) -> None:
        self._all: dict[int, Breakpoint] = {}
        self._kinds: dict[int, str] = {}
        self._newest = 0

    def __len__(self) -> int:
        return len(self._all)

    def all(self) -> list[Breakpoint]:
        """Return all, in the order of their ids."""
        return list(self._all.values())

    def get(self, number: int) -> Breakpoint:
        """Return a breakpoint; raises UsageError if the id is unknown."""
        found = self._all.get(number)
        if found is not None:
            return found
        raise UsageError(no_such("breakpoint", number, self._all))

    def get_all(self, numbers: Iterable[int]) -> list[Breakpoint]:
        """Return several breakpoints; raises UsageError if an id is unknown."""
        return [self.get(number) for number in numbers]

    def attempts_at(self, action: protocol.ActionRef | None) -> tuple[str, str | None]:
        """Return the SPEC and the condition of the attempts that the user follows at an action.

        The newest breakpoint that names the action's attempt decides. Without such a breakpoint,
        the user follows the attempts of the action's pattern, or the folds of its operation; at
        any other action, the attempts of all patterns.
        """
        if action is not None:
            for one in reversed(self._all.values()):
                if one.names_attempt(action):
                    return one.spec, one.condition
        return attempted_spec(action), None

    def kind_of(self, number: int) -> str:
        """Return what a breakpoint is, or was before it was deleted, such as ``watch``."""
        return self._kinds.get(number, "breakpoint")

    @property
    def next_id(self) -> int:
        """The id of the next breakpoint."""
        return self._newest + 1

    def add(self, new: Breakpoint) -> Breakpoint:
        """Add a breakpoint with the id ``next_id``."""
        self._newest = new.id
        self._all[new.id] = new
        self._kinds[new.id] = f"temporary {new.kind}" if new.temporary else new.kind
        return new

    def remove(self, number: int) -> None:
        """Remove a breakpoint, if it exists."""
        self._all.pop(number, None)

    def remove_temporary(self, hit: Iterable[int]) -> None:
        """Remove the temporary ones among the breakpoints that were hit."""
        for number in hit:
            found = self._all.get(number)
            if found is not None and found.temporary:
                self.remove(number)

    @contextlib.contextmanager
    def passing_attempts(self) -> Generator[None]:
        """Let the breakpoints at attempts of patterns and at folds only count hits, in a block."""
        passed = [one for one in self._all.values() if one.is_at_attempts]
        for one in passed:
            one.is_passed = True
        try:
            yield
        finally:
            for one in passed:
                one.is_passed = False

    def pending(self) -> list[Breakpoint]:
        """Return the breakpoints whose names are not known yet."""
        return [one for one in self._all.values() if one.pending is not None]

    def never_hit(self) -> list[int]:
        """Return the ids of the enabled breakpoints without a hit, watches and catches aside."""
        return [one.id for one in self._all.values() if one.is_unhit]

    def count(self, hits: Iterable[protocol.Hits]) -> None:
        """Set the hits of this run, and reduce the ignore counts."""
        for one in hits:
            if one.id in self._all:
                self._all[one.id].count(one)

    def recount(self, hits: Iterable[protocol.Hits]) -> None:
        """Set the hits after time travel; the ignore counts are kept."""
        for one in hits:
            if one.id in self._all:
                self._all[one.id].recount(one)

    def forget_hits(self) -> None:
        """Reset the hits to 0, for a new run."""
        for one in self._all.values():
            one.found = protocol.Hits(id=one.id, hits=0)
            one.was_hit = False
            one.ignore = one.ignore_each_run or one.ignore


def breakpoint_script(breakpoints: Iterable[Breakpoint]) -> str:
    """Return the commands that set breakpoints again.

    ``$_`` is the id of the newest breakpoint, as ids may differ when the script is read. Hits are
    not saved.
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
        words += ["--outcome", shlex.quote(one.outcome)]
    elif one.selection.after:
        words.append("--after")
    return [*words, one.spec]
