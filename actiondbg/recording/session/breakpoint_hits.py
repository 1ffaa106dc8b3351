"""At which events of a recording breakpoints, watches and catches are hit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from actiondbg.recording.format.arrow import Ints
from actiondbg.recording.session.columns import ActionColumns
from actiondbg.support.globs import glob_matches

if TYPE_CHECKING:
    from actiondbg import protocol
    from actiondbg.breakpoints.breakpoint import Breakpoint
    from actiondbg.recording.session.action_query import ActionQuery
    from actiondbg.recording.session.changes import ChangeColumns

_ADAPTOR = "OpToOpPassAdaptor"  # a pass that only runs other passes


class BreakpointHits:
    """Finds events; what was looked for once is known.

    Args:
        actions: the recorded ones.
        changes: the recorded ones.
        query: finds actions.
    """

    def __init__(self, actions: ActionColumns, changes: ChangeColumns, query: ActionQuery) -> None:
        self._query = query
        self._actions = actions
        self._changes = changes
        self._known: dict[tuple[Any, ...], Ints] = {}

    def events(self, one: Breakpoint) -> Ints:
        """Return the events at which a breakpoint, a watch or a catch is hit, sorted."""
        key = (one.spec, one.condition, one.after, one.outcome)
        if key not in self._known:
            self._known[key] = self._find(one)
        return self._known[key]

    def _find(self, one: Breakpoint) -> Ints:
        if one.watch is not None:
            return self._watched(one.watch, one.condition)
        if one.catch is not None:
            return self.ends(self._failed_passes(one.catch.glob))
        places = self._query.places(one.spec, one.condition, one.outcome)
        return self.ends(places) if one.after else self._actions.line.begins[places]

    def _watched(self, watch: protocol.Watch, condition: str | None) -> Ints:
        rows = self._changes.life(watch.id or 0, watch.exact)
        if condition is not None:
            places = self._query.places("tag:*", condition)
            rows = rows[np.isin(self._changes.places[rows], places)]
        events = np.unique(self._changes.told_at[rows])
        return events[events <= self._actions.line.last]  # an action that is not over tells nothing

    def _failed_passes(self, glob: str | None) -> Ints:
        failed = self._actions.words("outcome").where(lambda outcome: outcome == "failed")
        named = self._actions.words("name").where(
            lambda name: not name.endswith(_ADAPTOR) and (glob is None or glob_matches(glob, name))
        )
        return np.flatnonzero(self._actions.is_tag("pass-execution") & failed & named)

    # --- actions ---

    def ends(self, places: Ints) -> Ints:
        """Return the events at which those of some actions that are over ended, sorted."""
        line = self._actions.line
        return np.sort(line.ends[places[line.over(line.last)[places]]])
