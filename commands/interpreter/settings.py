"""The settings, which ``set`` changes and ``show`` prints."""

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
    """A setting.

    Attributes:
        choices: the accepted words; None for text or a number.
        attribute: the property of the session's options that holds it, if one does.
        values: the values of that property for the words.
        number: the unit of the accepted numbers, if it accepts numbers.
        needs_tool: whether it has no meaning over a recording.
        is_text: whether the property of the session's options is a text, which it checks.
        is_late: whether a tool that runs keeps the old value.
    """

    default: str
    summary: str
    choices: tuple[str, ...] | None = ("on", "off")
    attribute: str | None = None
    values: tuple[int, ...] = (True, False)
    number: str | None = None
    needs_tool: bool = False
    is_text: bool = False
    is_late: bool = False

    def parse(self, name: str, value: str) -> int | str:
        """Return the value for the session; raise UsageError for an invalid one."""
        if self.is_text:
            return value
        words = self.choices or ()
        if value in words:
            return self.values[words.index(value)]
        if self.number is not None and value.isdecimal():
            return int(value)
        takes = " or ".join([*words, *([f"a number of {self.number}"] if self.number else [])])
        raise UsageError(f"{name} cannot be {value!r}: give {takes}.")

    def text(self, value: int | str) -> str:
        words = self.choices or ()
        if isinstance(value, int) and words and value in self.values:
            return words[self.values.index(value)]
        return str(value)


SETTINGS: dict[str, Setting] = {
    "style": Setting("terminal", "the colours of IR: a Pygments style, terminal or off", None),
    "print-stop": Setting("on", "whether a stop prints its operation"),
    "context": Setting(
        "5",
        "the lines of IR before and after the cursor at a stop, on a terminal: a number",
        None,
        number="lines, 0 for none",
    ),
    "context-defs": Setting(
        "off", "whether definitions of operands that lie further away are shown, too"
    ),
    "pagination": Setting("on", "whether long text goes through $PAGER, on a terminal"),
    "elide": Setting(
        "16",
        "elide attributes of more elements at stops: a number or off",
        ("off",),
        number="elements",
    ),
    "confirm": Setting("on", "whether quit and delete ask at the prompt, as in gdb"),
    "verify-each-action": Setting(
        "off",
        "whether the IR is verified after every action that changed it",
        attribute="verify_each_action",
    ),
    "stop-on-crash": Setting(
        "on",
        "whether the tool stops where it crashes",
        attribute="stop_on_crash",
    ),
    "scheduler": Setting(
        "wait",
        "whether other threads wait at their next action while one is at a stop, or run",
        ("wait", "run"),
        attribute="threads_wait",
    ),
    "reproducer-directory": Setting(
        "actiondbg-reproducers",
        "the directory for reproducers of crashes, or off",
        None,
        needs_tool=True,
    ),
    "count-actions": Setting(
        "off",
        "whether outcomes are counted as actions run, so that info patterns needs no replay",
        attribute="count_actions",
    ),
    "follow": Setting(
        "*",
        "of a program that starts tools: a glob of the processes to debug, from the next start on",
        None,
        attribute="follow",
        is_text=True,
        is_late=True,
    ),
    "disable-randomization": Setting(
        "on",
        "whether the tool's addresses are the same in each run, from the next start on",
        attribute="disable_randomization",
        is_late=True,
    ),
    "checkpoints": Setting(
        "on",
        "whether checkpoints are made automatically, or their spacing in milliseconds",
        attribute="checkpoint_spacing",
        values=(50, 0),
        number="milliseconds",
    ),
    "checkpoint-memory": Setting(
        "1024",
        "the memory limit of automatic checkpoints in megabytes",
        None,
        attribute="checkpoint_memory",
        number="megabytes",
    ),
}


def _resolve(name: str) -> str:
    matches = [name] if name in SETTINGS else [s for s in SETTINGS if s.startswith(name)]
    if len(matches) != 1:
        near = difflib.get_close_matches(name, SETTINGS, n=1)
        way_out = (
            f"did you mean {near[0]!r}?" if near else f"the settings are {', '.join(SETTINGS)}."
        )
        raise UsageError(f"There is no setting {name!r}: {way_out}")
    return matches[0]


class Settings:
    """The values of the settings, as text.

    Args:
        live_session: returns the live session, which holds some settings; raises UsageError with
            the given reason if there is none.
    """

    def __init__(self, live_session: Callable[[str], Session], has_tool: bool = True) -> None:
        self._live_session = live_session
        self._has_tool = has_tool
        self._values = {name: setting.default for name, setting in SETTINGS.items()}

    def __getitem__(self, name: str) -> str:
        setting = SETTINGS[name]
        if setting.attribute is None:
            self._check(name)
            return self._values[name]
        return setting.text(getattr(self._holder(name), setting.attribute))

    def _check(self, name: str) -> None:
        """Raise UsageError over a recording if the setting needs the tool."""
        if SETTINGS[name].needs_tool:
            self._live_session(f"The setting {name!r}")

    def _holder(self, name: str) -> AgentOptions:
        return self._live_session(f"The setting {name!r}").options

    def on(self, name: str) -> bool:
        return self[name] != "off"

    def limit(self, name: str) -> int | None:
        """Return a setting that is a number; None if it is off."""
        return int(self[name]) if self.on(name) else None

    def set(self, name: str, value: str) -> str:
        """Change a setting; return its full name.

        Raises:
            UsageError: the setting does not exist, or does not accept the value.
        """
        name = _resolve(name)
        setting = SETTINGS[name]
        if setting.attribute is not None:
            setattr(self._holder(name), setting.attribute, setting.parse(name, value))
            return name
        self._check(name)
        if setting.choices is not None or setting.number is not None:
            setting.parse(name, value)
        if name == "style" and value != "off":
            _check_style(value)
        self._values[name] = value
        return name

    def show(self, name: str | None) -> dict[str, str]:
        """Return one setting, by name or unique prefix, or all settings."""
        if name is None:
            return {
                each: self[each]
                for each, setting in SETTINGS.items()
                if self._has_tool or not (setting.attribute or setting.needs_tool)
            }
        name = _resolve(name)
        return {name: self[name]}


def _check_style(name: str) -> None:
    from actiondbg.ir.lexer import style_names

    names = style_names()
    if name not in names:
        close = difflib.get_close_matches(name, names, n=1) or ["monokai"]
        raise UsageError(
            f"There is no style {name!r}: give off, terminal or a style such as {close[0]}."
        )
