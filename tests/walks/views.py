"""What all views of one stop must agree about."""

from __future__ import annotations

import hashlib
from typing import Any

from tests.walks.front_end import Broken, FrontEnd
from tests.walks.model import Stop

_ACTION = ("ordinal", "tag", "name", "op", "location", "function", "context", "id")
_LASTING = (*_ACTION, "when", "depth", "event", "outcome", "changes")


class Views:
    """Compares the views of stops with each other, and with those of earlier visits.

    Args:
        front_end: answers.
    """

    def __init__(self, front_end: FrontEnd) -> None:
        self._ask = front_end.ask
        self._folder = front_end.folder
        self._seen: dict[tuple[object, ...], dict[str, object]] = {}

    def check(self, stop: Stop, is_fresh: bool) -> None:
        """Check the views of the current stop.

        Args:
            stop: the result of the newest control.
            is_fresh: whether nothing has moved the cursor and the frame since.

        Raises:
            Broken: two of them contradict each other.
        """
        timeline = self._result("info timeline")
        program = self._result("info program")
        _agree("info timeline", timeline, stop, ("event", "when"))
        if stop["when"] == "exit":
            _agree("info program", program, stop, ("status",))
            return
        _agree("info program", program, stop, ("event",))
        if program["ordinal"] < (stop["ordinal"] or 0):
            raise Broken("views differ: info program", f"{program} at {stop}")
        frames: list[dict[str, Any]] = self._result("backtrace")["frames"]
        if stop["ordinal"] and is_fresh:
            self._check_frames(stop, frames)
            self._check_action(stop)
            self._check_cursor(stop)
        self._check_visit(stop, timeline)

    def _check_frames(self, stop: Stop, frames: list[dict[str, Any]]) -> None:
        if not frames:
            raise Broken("views differ: backtrace", f"no frame at {stop}")
        _agree("backtrace", frames[0], stop, (*_ACTION, "depth"))
        if [one["depth"] for one in frames] != list(range(stop["depth"], -1, -1)):
            raise Broken("views differ: depths", f"{frames} at {stop}")
        self._ask("backtrace > view.txt")
        if f"#{stop['ordinal']} " not in (self._folder / "view.txt").read_text():
            raise Broken("views differ: text of backtrace", str(stop))

    def _check_action(self, stop: Stop) -> None:
        action = self._result("info action")
        _agree("info action", action, stop, (*_ACTION, "depth", "when"))
        if stop["when"] == "after":
            outcome = self._result("info outcome")
            if outcome.get("result") != stop["outcome"]["result"]:
                raise Broken("views differ: outcome", f"{outcome} at {stop}")

    def _check_cursor(self, stop: Stop) -> None:
        cursor = self._result("info cursor")
        printed = self._ask("print")
        text = printed["result"]["text"] if printed["ok"] else ""
        if cursor["state"] != "alive":
            return
        if not text.strip():
            raise Broken("views differ: nothing is printed of the cursor", f"{printed}, {cursor}")
        if cursor["kind"] == "operation":
            first = text.splitlines()[0]
            short = cursor["name"].removeprefix("func.").removeprefix("builtin.")
            if short not in text or first.strip()[:12] not in cursor["text"] + first:
                raise Broken("views differ: print and info cursor", f"{first} for {cursor}")
        if stop["when"] == "before" and cursor["id"] != stop["id"]:
            raise Broken("views differ: cursor", f"{cursor} at {stop}")
        self._ask("info cursor > view.txt")
        written = (self._folder / "view.txt").read_text()
        location = cursor["location"]
        is_of_file = bool(location) and location.endswith(":0:0")  # shown nowhere
        if location and not is_of_file and location not in written:
            raise Broken("views differ: text of info cursor", f"{written} for {cursor}")

    def _check_visit(self, stop: Stop, timeline: dict[str, Any]) -> None:
        """Check that an event of a branch shows what it showed at earlier visits."""
        shown: dict[str, object] = {name: stop.get(name) for name in _LASTING}
        printed = self._ask("print module")
        text = printed["result"]["text"] if printed["ok"] else printed["error"]
        shown["module"] = hashlib.sha256(text.encode()).hexdigest()
        branch = next(one for one in timeline["branches"] if one["number"] == timeline["current"])
        edits = len(self._ask("info edits").get("result") or ())
        place = (branch["number"], edits, stop["event"], stop["when"], stop["reason"] == "crash")
        if stop["when"] == "during":
            return
        first = self._seen.setdefault(place, shown)
        if first != shown:
            differing = [name for name in shown if first[name] != shown[name]]
            raise Broken(
                f"an event shows something else than before: {differing}",
                f"{first} was, {shown} is, at {place}",
            )

    def forget(self) -> None:
        """A new run began: branches are numbered anew."""
        self._seen.clear()

    def _result(self, line: str) -> Any:
        answer = self._ask(line)
        if not answer["ok"]:
            raise Broken(f"a view fails: {line}", answer["error"])
        return answer["result"]


def _agree(view: str, shown: dict[str, Any], stop: Stop, names: tuple[str, ...]) -> None:
    for name in names:
        if shown.get(name) != stop.get(name):
            raise Broken(
                f"views differ: {name} of {view}", f"{shown.get(name)!r} is shown at {stop}"
            )
