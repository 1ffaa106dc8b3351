"""What the fake agent answers at a stop; it imports nothing of ours but its like."""

from __future__ import annotations

import argparse
from typing import Any

from fake_stream import (
    ABOUT,
    ACTIONS,
    BLOCK,
    CHANGES,
    FUNCTION,
    MODULE,
    SUM,
    UNIT,
    Action,
    events,
)


class Refusal(Exception):
    """A request that is answered with an error: the code, the message."""


class Answers:
    """Answers by the name of the method: ``_cursor_get`` to cursor/get."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self._events = events()
        self._at: int = -1
        self._breakpoints: list[dict[str, Any]] = []
        self._hits: dict[int, int] = {}
        self._skips: list[int] = []
        self._to_skip: list[int] = []
        self._passed: list[dict[str, int]] = []
        self._log: Any = None
        self._cursor: dict[str, Any] = UNIT
        self._verify = False

    def _breakpoints_set(self, params: dict[str, Any]) -> dict[str, Any]:
        self._breakpoints = params["breakpoints"]
        return {}

    def _breakpoints_hits(self, _: dict[str, Any]) -> dict[str, Any]:
        return {"hits": self._hit_list()}

    def _settle(self, _: dict[str, Any]) -> dict[str, Any]:
        return {"remade": [], "lost": []}

    def _context(self, _: dict[str, Any]) -> dict[str, Any]:
        return {"units": [UNIT]}

    def _cursor_get(self, _: dict[str, Any]) -> dict[str, Any]:
        path = [0, 0] if self._cursor is BLOCK else [0, 0, 1]
        return {"unit": self._cursor, "function": "f", "path": path}

    def _cursor_move(self, params: dict[str, Any]) -> dict[str, Any]:
        to, index, name = params["to"], params.get("index"), params.get("name", "")
        if (to, index) not in (("id", 7), ("id", 12)) and (to == "id" or name == "%none"):
            raise Refusal(-32002, f"there is no {name or index}")
        if (to, index) == ("child", 0):
            self._cursor = BLOCK
        elif to == "function" or (to, index) == ("id", 7):
            self._cursor = FUNCTION
        else:
            self._cursor = BLOCK if name == "%arg0" else UNIT
        return self._cursor_get(params)

    def _together(self, params: dict[str, Any]) -> dict[str, Any]:
        answers: list[dict[str, Any]] = []
        for one in params["requests"]:
            answer = getattr(self, f"_{one['method'].replace('/', '_')}")
            try:
                answers.append({"result": answer(one["params"])})
            except Refusal as refusal:
                code, message = refusal.args
                answers.append({"error": {"code": code, "message": message}})
        return {"answers": answers}

    def _values_named(self, _: dict[str, Any]) -> dict[str, Any]:
        return {"scope": None, "values": []}

    def _names(self, params: dict[str, Any]) -> dict[str, Any]:
        return {"names": [f"{params['kind']}-name"]}

    def _print(self, params: dict[str, Any]) -> dict[str, Any]:
        is_over = self._is_past(3)
        if params["id"] is not None and is_over and self._options.erase:
            raise Refusal(-32003, "the unit is erased")
        text = MODULE if params["what"] != "operation" else SUM
        if params["names"] is not None:
            text = text.replace("old", "new").replace("%0", "%1") if is_over else text
            with open(params["names"], "w", encoding="utf-8") as file:
                file.write("%1 12.0\n" if is_over else "%0 12.0\n")
        generic = params["generic"] or is_over or not self._options.invalid
        text = text.replace("func.func", '"func.func"') if params["generic"] else text
        with open(params["path"], "w", encoding="utf-8") as file:
            file.write(text)
        marks = {"markFirst": 2, "markLast": 2} if params["mark"] else {}
        empty = {"markFirst": None, "markLast": None}
        return {
            **empty,
            **marks,
            "bytes": len(text.encode()),
            "generic": generic,
            "path": [0, 0, 1],
        }

    def _frame_select(self, params: dict[str, Any]) -> dict[str, Any]:
        return {**self._frame(self._events[self._at][1]), "index": params["index"]}

    def _backtrace(self, _: dict[str, Any]) -> dict[str, Any]:
        when, action = self._events[self._at]
        ended = {event[1][0] for event in self._events[: self._at] if event[0] == "after"}
        begun = [event[1] for event in self._events[: self._at] if event[0] == "before"]
        running = [one for one in begun if one[0] not in ended]
        frames = [*([action] if when == "before" else []), *reversed(running)]
        return {"frames": [self._frame(one, index) for index, one in enumerate(frames)]}

    def _status(self, _: dict[str, Any]) -> dict[str, Any]:
        newest = max((e[1][0] for e in self._events[: self._at + 1]), default=0)
        come = {"ordinal": newest, "event": self._at + 1, "passed": self._passed}
        held = {"contexts": 1, "threading": True, "tracked": int(self._verify)}
        return {**come, **held, "written": self._written()}

    def _written(self) -> list[int]:
        return [len(self._options.print.encode()), 0]

    def _changes(self, params: dict[str, Any]) -> dict[str, Any]:
        shown = CHANGES[: params["count"]]
        return {
            "changes": shown,
            "total": 3,
            "counts": {"inserted": 1},
            "forgotten": 0,
            "undated": 0,
        }

    def _statistics(self, _: dict[str, Any]) -> dict[str, Any]:
        counts = dict.fromkeys(("unchanged", "failed", "skipped", "changes"), 0)
        done = [action for when, action in self._events[: self._at + 1] if when == "after"]
        rows = [
            {"tag": tag, "name": name, "attempts": 1, "succeeded": 1, "seconds": 0.5, **counts}
            for _, tag, name, _ in done
        ]
        return {"rows": rows}

    def _count(self, params: dict[str, Any]) -> dict[str, Any]:
        return {"count": 1 if params["function"] else len(params["glob"])}

    def _pipeline(self, _: dict[str, Any]) -> dict[str, Any]:
        return {"text": f'builtin.module({self._events[self._at][1][2]}{{s="a b"}})'}

    def _options_set(self, params: dict[str, Any]) -> dict[str, Any]:
        self._verify = params.get("verifyEachAction", self._verify)
        return {}

    def _skips_set(self, params: dict[str, Any]) -> dict[str, Any]:
        self._to_skip = params["ordinals"]
        assert set(params) == {"ordinals", "rules", "applied", "edits"}
        when, action = self._events[self._at] if self._at >= 0 else ("after", (0,))
        return {"skipped": action[0] in self._to_skip if when == "before" else None}

    def _log_open(self, params: dict[str, Any]) -> dict[str, Any]:
        self._log = open(params["path"], "w", encoding="utf-8")  # noqa: SIM115
        return {}

    def _log_close(self, _: dict[str, Any]) -> dict[str, Any]:
        self._log.close()
        return {}

    def _is_past(self, ordinal: int) -> bool:
        return ("after", ACTIONS[ordinal - 1]) in self._events[: self._at + 1]

    def _frame(self, action: Action, index: int = 0) -> dict[str, Any]:
        ordinal, tag, name, depth = action
        about = {"ordinal": ordinal, "tag": tag, "name": name, "depth": depth}
        return {**about, "units": [], "index": index, **ABOUT}

    def _hit_list(self) -> list[dict[str, int]]:
        return [
            {"id": one["id"], "hits": self._hits.get(one["id"], 0)} for one in self._breakpoints
        ]
