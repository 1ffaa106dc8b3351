"""Results as plain objects for JSON, with the keys that docs/commands.md documents."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from actiondbg.breakpoints.breakpoint import Breakpoint
from actiondbg.commands.interpreter.words import Redirect
from actiondbg.commands.render import results
from actiondbg.ir.printed import PrintedText
from actiondbg.process.stop import Stop

# Exactly these, whatever the API tells beside: scripts rely on it.
_STOP_KEYS = (
    *("when", "reason", "ordinal", "tag", "name", "op", "location", "function", "depth"),
    "breakpoints",
)
_STOPPED_KEYS = (*_STOP_KEYS, "id", "outcome", "changes", "message", "culprit")
_EXIT_KEYS = (*_STOP_KEYS, "status")
_BREAKPOINT_KEYS = (
    *("id", "kind", "spec", "condition", "enabled", "temporary", "after", "outcome", "ignore"),
    *("hits", "commands"),
)
_TOTALS = ("attempts", "succeeded", "unchanged", "failed", "skipped", "changes", "seconds")


def as_json(result: Any, redirect: Redirect | None) -> Any:
    """Return a result as JSON has it.

    Args:
        result: what a command returned.
        redirect: where its text has gone; IR is not repeated then.
    """
    if isinstance(result, PrintedText):
        return _ir(result, redirect)
    for kind, object_of in _OBJECTS.items():
        if isinstance(result, kind):
            return object_of(result)
    return msgspec.to_builtins(result)


def _ir(printed: PrintedText, redirect: Redirect | None) -> Any:
    if redirect is not None:
        written = results.Written(redirect.target, redirect.operator, printed.bytes)
        return msgspec.to_builtins(written)
    with printed:
        return msgspec.to_builtins(results.Printed(printed.text, printed.generic))


def _stop(stop: Stop) -> Any:
    whole = stop.as_json()
    keys = _EXIT_KEYS if stop.when == "exit" else _STOPPED_KEYS
    return {key: whole[key] for key in keys}


def _breakpoint(breakpoint: Breakpoint) -> Any:
    return {key: getattr(breakpoint, key) for key in _BREAKPOINT_KEYS}


def _breakpoints(listed: results.Breakpoints) -> Any:
    return {"breakpoints": [_breakpoint(each) for each in listed.breakpoints]}


def _facts(facts: results.Facts) -> Any:
    return facts.facts


def _changes(shown: results.ChangesShown) -> Any:
    return {"ordinal": shown.ordinal, **msgspec.to_builtins(shown.changes)}


def _statistics(shown: results.StatisticsShown) -> Any:
    total = msgspec.to_builtins(shown.total)
    return {
        "rows": msgspec.to_builtins(shown.rows),
        "total": {key: total[key] for key in _TOTALS},
    }


def _attempts(shown: results.AttemptsShown) -> Any:
    attempts = shown.attempts.attempts
    return {
        "name": shown.attempts.name,
        "attempts": [
            {
                "ordinal": each.ordinal,
                "op": each.op,
                "id": each.id,
                "location": each.location,
                "function": each.function,
                "outcome": msgspec.to_builtins(each.outcome),
                "changes": each.change_count,
            }
            for each in attempts
        ],
        "groups": [
            {
                "result": each.result,
                "reason": each.reason,
                "count": each.count,
                "first": each.first.ordinal,
            }
            for each in shown.attempts.grouped()
        ],
    }


def _history(shown: results.HistoryShown) -> Any:
    history = shown.history
    return {
        "id": history.id,
        "op": history.op,
        "events": msgspec.to_builtins(history.events),
        "madeFrom": list(history.made_from),
        "became": list(history.became),
    }


def _cycle(shown: results.CycleShown) -> Any:
    if shown.cycle is None:
        return None
    return {
        "times": shown.cycle.times,
        "round": msgspec.to_builtins(shown.cycle.round),
        "diffs": [_diff_object(each, 3) for each in shown.cycle.diffs],
    }


def _diff(shown: results.DiffShown) -> Any:
    return _diff_object(shown.diff, shown.context)


def _diff_object(diff: Any, context: int) -> Any:
    return {
        "ordinal": diff.ordinal,
        "title": diff.title,
        "empty": diff.is_empty,
        "unified": diff.unified(context),
    }


def _bisected(shown: results.Bisected) -> Any:
    return shown.result.as_json()


_OBJECTS: dict[type[Any], Callable[[Any], Any]] = {
    Stop: _stop,
    Breakpoint: _breakpoint,
    results.Breakpoints: _breakpoints,
    results.Facts: _facts,
    results.ChangesShown: _changes,
    results.StatisticsShown: _statistics,
    results.AttemptsShown: _attempts,
    results.HistoryShown: _history,
    results.CycleShown: _cycle,
    results.DiffShown: _diff,
    results.Bisected: _bisected,
}
