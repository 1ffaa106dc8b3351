"""The answers of tools: of bounded size, with the place of the session, and how to get the rest."""

from __future__ import annotations

from collections import OrderedDict
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from actiondbg.process.stop import Stop

PAGE = 12_000  # characters, about 4,000 tokens
_LEAST = 1_000
MOST = 4_000_000  # characters that are kept
_KEPT = 16  # answers of a client

State = Literal["not-running", "running", "stopped", "exited"]


class Place(msgspec.Struct, frozen=True, omit_defaults=True):
    """Where a session is: at the beginning or the end of an action, or at the end of the run.

    Attributes:
        when: before, after or during an action, or exit.
        reason: why it stopped, such as step, breakpoint or watch.
        ordinal: the number of the action, #N in texts.
        operation: the id of the operation of the action, @ID in texts.
        location: FILE:LINE:COLUMN of the operation.
        outcome: after an action, how it ended.
        breakpoints: the ids of the breakpoints that were hit.
        status: at exit, the status of the tool.
    """

    when: str
    reason: str
    ordinal: int = 0
    tag: str = ""
    name: str = ""
    operation: int | None = None
    location: str | None = None
    outcome: str | None = None
    changes: int = 0
    breakpoints: list[int] = msgspec.field(default_factory=list[int])
    status: int | None = None

    @classmethod
    def of(cls, stop: Stop) -> Place:
        shared = ("when", "reason", "ordinal", "tag", "name", "location", "status")
        return cls(
            **{name: getattr(stop, name) for name in shared},
            operation=stop.id,
            outcome=stop.outcome.result if stop.outcome else None,
            changes=stop.change_count,
            breakpoints=list(stop.breakpoints),
        )


class Told(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a tool tells: a text, and the place of its session as data."""

    text: str = ""
    state: State | None = None
    stop: Place | None = None


class Result(Told, frozen=True, omit_defaults=True):
    """What a worker answers; ``error``: the text is a sentence with the way out."""

    error: bool = False


class Rest(msgspec.Struct, frozen=True):
    """The arguments of the tool more for the rest of a text."""

    answer: str
    offset: int
    left: Annotated[int, Meta(description="characters that are not shown")]


class Answer(Told, frozen=True, omit_defaults=True):
    """The structured answer of every tool."""

    session: str | None = None
    rest: Rest | None = None

    @classmethod
    def of(cls, told: Told, text: str, session: str | None, rest: Rest | None) -> Answer:
        """Return what was told, with the first page of its text."""
        known: dict[str, Any] = {name: getattr(told, name) for name in Told.__struct_fields__}
        known["text"] = text
        return cls(**known, session=session, rest=rest)


class LongAnswers:
    """The newest long texts of a client, of which it reads the rest page by page."""

    def __init__(self) -> None:
        self._texts: OrderedDict[str, str] = OrderedDict()
        self._count = 0

    def first_page(self, text: str) -> tuple[str, Rest | None]:
        """Return what is shown of a text at first; a longer one is kept."""
        if len(text) <= PAGE:
            return text, None
        self._count += 1
        name = f"a{self._count}"
        self._texts[name] = text[:MOST]
        while len(self._texts) > _KEPT:
            self._texts.popitem(last=False)
        return self.page(name, 0)

    def page(self, name: str, offset: int) -> tuple[str, Rest | None]:
        """Return a page of a text, which ends at the end of a line if it can.

        Raises:
            KeyError: there is no such text, or it was forgotten.
        """
        text = self._texts[name]
        end = min(offset + PAGE, len(text))
        if end < len(text) and (line := text.rfind("\n", offset + _LEAST, end)) > 0:
            end = line + 1
        shown = text[offset:end]
        if end >= len(text):
            return shown, None
        left = len(text) - end
        note = (
            f"[{left:,} more characters: call more with answer {name!r} and offset {end}, or ask "
            "for less.]"
        )
        return f"{shown.rstrip()}\n{note}", Rest(name, end, left)
