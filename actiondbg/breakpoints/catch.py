"""EVENT: the event of a catch."""

from __future__ import annotations

import re
from typing import NamedTuple, get_args

from actiondbg.breakpoints.watch import quoted
from actiondbg.errors import UsageError
from actiondbg.protocol import Catch, CatchKind
from actiondbg.support.counts import joined
from actiondbg.support.globs import check_glob

_PLAIN = re.compile(r"[\w.*?:@-]+( [\w.*?:@-]+)*")  # needs no quotes where words are split


class Event(NamedTuple):
    """An event to catch.

    Attributes:
        label: what it is.
        glob: what its glob matches; None if it takes none.
    """

    label: str
    glob: str | None = None


EVENTS: dict[CatchKind, Event] = {
    "failure": Event("Failure of a pass", "pass"),
    "crash": Event("Crash of the tool"),
    "verify": Event("Invalid IR"),
    "diagnostic": Event("Diagnostic", "text"),
    "nonconvergence": Event("Greedy rewrite that does not converge"),
}
assert tuple(EVENTS) == get_args(CatchKind)
_KINDS: dict[str, CatchKind] = {kind: kind for kind in EVENTS}


def parse_catch(kind: str, glob: str | None) -> Catch:
    """Check an EVENT.

    Args:
        kind: of ``EVENTS``.
        glob: of the text of a diagnostic, or of the failing pass; None for any.

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


def catch_spec(catch: Catch) -> str:
    """Return the command that sets a catch again."""
    if catch.glob is None:
        return f"catch {catch.kind}"
    glob = catch.glob if _PLAIN.fullmatch(catch.glob) else quoted(catch.glob)
    return f"catch {catch.kind} {glob}"
