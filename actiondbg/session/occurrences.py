"""The identity of saved actions: kind, name, place, and the number among the equal ones."""

from __future__ import annotations

import re
from collections.abc import Sequence

from actiondbg import protocol
from actiondbg.process.forked_tool import ForkedTool
from actiondbg.process.stop import Stop
from actiondbg.protocol.tags import PASS_TAG, PATTERN_TAG
from actiondbg.session.past.replay import Place, Replay, logging, read_log
from actiondbg.support.globs import escape_glob

Identity = tuple[str, str, str | None, str | None]  # tag, name, location, function


class SavedAction(
    protocol.ActionRef,
    kw_only=True,
    frozen=True,  # pyright: ignore[reportGeneralTypeIssues]
    forbid_unknown_fields=True,
):
    """An action that a file names, to be found in other runs."""

    nth: int = 0  # its number among the actions of the same identity, from 1; 0 if unknown

    @property
    def what(self) -> Identity:
        """The identity of the action."""
        return identity_of(self)

    def matches(self, stop: Stop) -> bool:
        """Return whether a stop is at this action or an equal one."""
        found = identity_of(stop)
        return self.what in (found, (stop.tag, stop.unnamed, *found[2:]))


def identity_of(action: protocol.ActionRef) -> Identity:
    """Return the identity of an action apart from its ordinal.

    A pass is identified by the symbol on which it runs, not by the line of the symbol, which every
    line above would move.
    """
    location = None if action.tag == PASS_TAG else action.location
    return action.tag, action.name, location, action.function


def stopping_at(what: Identity) -> protocol.WireBreakpoint:
    """Return a breakpoint before the actions of an identity, and few others; its id is 1."""
    return protocol.WireBreakpoint(id=1, terms=_terms(*what))


def find_nth(fork: ForkedTool, action: SavedAction) -> Stop | None:
    """Return the stop before the nth occurrence of an action; None if the run has fewer.

    Args:
        fork: of the beginning of the run, with the breakpoint ``stopping_at``.
    """
    number = 0
    while (stop := fork.complete()).when != "exit":
        number += stop.when == "before" and action.matches(stop)
        if number == action.nth:
            return stop
    return None


def numbers_of(replay: Replay, actions: Sequence[protocol.ActionRef]) -> dict[int, int]:
    """Return the numbers of actions, the newest last, among those of their identity, by ordinal."""
    kinds = list(dict.fromkeys(identity_of(one) for one in actions))
    breakpoints = [logging(_terms(*kind), id=id) for id, kind in enumerate(kinds, 1)]
    counts = dict.fromkeys(kinds, 0)
    numbers: dict[int, int] = {}
    with replay.log_file() as log:
        replay.log(breakpoints, Place(actions[-1].ordinal), log).close()
        seen: set[int] = set()
        for line in read_log(log):
            kind = identity_of(line)
            if kind in counts and line.ordinal not in seen:
                seen.add(line.ordinal)
                counts[kind] += 1
                numbers[line.ordinal] = counts[kind]
    return numbers


def why_not_found(action: SavedAction) -> str:
    """Return a sentence about a saved action that was not found."""
    if not action.nth:
        return "No later action is the same."
    if action.nth == 1:
        return "The saved action does not occur in this run."
    return f"The saved action occurs fewer than {action.nth} times in this run."


def _terms(tag: str, name: str, location: str | None, function: str | None) -> list[protocol.Term]:
    """Return terms that match all actions of this identity, and few others."""
    terms = [protocol.Term(kind="tag", glob=escape_glob(tag))]
    if tag == PATTERN_TAG and name:
        terms.append(protocol.Term(kind="pattern", glob=escape_glob(name)))
    if function is not None:
        terms.append(protocol.Term(kind="func", glob=escape_glob(function)))
    match = re.fullmatch(r"(.+):([0-9]+):([0-9]+)", location or "")
    if match:
        path, line, column = match[1], int(match[2]), int(match[3])
        if line:
            terms.append(protocol.Term(kind="location", path=path, line=line, column=column))
    return terms
