"""What ``set`` changes and ``show`` shows."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from actiondbg.errors import UsageError

if TYPE_CHECKING:
    from actiondbg.session.agent_options import AgentOptions
    from actiondbg.session.session import Session


@dataclass(frozen=True)
class Setting:
    """One setting: its words, or a number (``choices`` is None), and what it does.

    ``attribute`` names the property of the session's that holds it, if it is the session's;
    ``values`` is what the words mean there, and ``number`` says that it takes a number, too.
    """

    default: str
    summary: str
    choices: tuple[str, ...] | None = ("on", "off")
    attribute: str | None = None
    values: tuple[int, ...] = (True, False)
    number: str | None = None

    def parse(self, name: str, value: str) -> int:
        """Return what a value means to the session; raises UsageError if it takes no such."""
        words = self.choices or ()
        if value in words:
            return self.values[words.index(value)]
        if self.number is not None and value.isdecimal():
            return int(value)
        takes = " or ".join([*words, *([f"a number of {self.number}"] if self.number else [])])
        raise UsageError(f"{name} cannot be {value!r}: it takes {takes}.")

    def text(self, value: int) -> str:
        """Return a value of the session's as it is written."""
        words = self.choices or ()
        return words[self.values.index(value)] if words and value in self.values else str(value)


SETTINGS: dict[str, Setting] = {
    "style": Setting("terminal", "the colours of IR: a Pygments style, terminal or off", None),
    "print-stop": Setting("on", "whether a stop prints its operation"),
    "pagination": Setting("on", "whether long text goes through $PAGER, on a terminal"),
    "elide": Setting(
        "16", "constants of more elements are elided in a stop; a number or off", None
    ),
    "verify-each-action": Setting(
        "off",
        "whether the IR is verified after every action that changed it",
        attribute="verify_each_action",
    ),
    "count-actions": Setting(
        "off",
        "whether all is counted as it runs, so that info patterns needs no replay",
        attribute="count_actions",
    ),
    "checkpoints": Setting(
        "on",
        "whether the tool makes checkpoints of itself, or after how many milliseconds each",
        attribute="checkpoint_spacing",
        values=(50, 0),
        number="milliseconds",
    ),
    "checkpoint-memory": Setting(
        "1024",
        "how many megabytes these may hold",
        None,
        attribute="checkpoint_memory",
        number="megabytes",
    ),
}


def _resolve(name: str) -> str:
    """Return the setting that a name or a unique prefix of one means."""
    matches = [name] if name in SETTINGS else [s for s in SETTINGS if s.startswith(name)]
    if len(matches) != 1:
        raise UsageError(f"There is no setting {name!r}: the settings are {', '.join(SETTINGS)}.")
    return matches[0]


class Settings:
    """The values of the settings, as text.

    Args:
        tool: returns the session that holds some of them; raises UsageError where there is none,
            with what it is given in words.
        has_tool: whether there is one.
    """

    def __init__(self, tool: Callable[[str], Session], has_tool: bool = True) -> None:
        self._tool = tool
        self._has_tool = has_tool
        self._values = {name: setting.default for name, setting in SETTINGS.items()}

    def __getitem__(self, name: str) -> str:
        setting = SETTINGS[name]
        if setting.attribute is None:
            return self._values[name]
        return setting.text(getattr(self._holder(name), setting.attribute))

    def _holder(self, name: str) -> AgentOptions:
        return self._tool(f"The setting {name!r}").options

    def on(self, name: str) -> bool:
        """Return whether a setting is anything but off."""
        return self[name] != "off"

    def set(self, name: str, value: str) -> str:
        """Change a setting; return its full name.

        Raises:
            UsageError: there is no such setting, or it does not take the value.
        """
        name = _resolve(name)
        setting = SETTINGS[name]
        if setting.attribute is not None:
            setattr(self._holder(name), setting.attribute, setting.parse(name, value))
            return name
        if setting.choices is not None:
            setting.parse(name, value)
        if name == "elide" and value != "off" and not value.isdecimal():
            raise UsageError(f"elide cannot be {value!r}: it takes a number of elements or off.")
        if name == "style" and value != "off":
            _check_style(value)
        self._values[name] = value
        return name

    def show(self, name: str | None) -> dict[str, str]:
        """Return one setting, by name or unique prefix, or all that there are."""
        if name is None:
            there = {n: s for n, s in SETTINGS.items() if self._has_tool or s.attribute is None}
            return {each: self[each] for each in there}
        name = _resolve(name)
        return {name: self[name]}


def _check_style(name: str) -> None:
    from actiondbg.ir.lexer import style_names

    names = style_names()
    if name not in names:
        close = difflib.get_close_matches(name, names, n=1) or ["monokai"]
        raise UsageError(f"There is no style {name!r}: take off, terminal or, say, {close[0]}.")
