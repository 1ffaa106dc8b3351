"""The interpreter of command lines: it parses them, runs commands and prints results and errors."""

from __future__ import annotations

import json
import os
import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, cast

import msgspec

from actiondbg.commands.interpreter import help as help_text
from actiondbg.commands.interpreter.completers import Typed, breakpoint_numbers, matching
from actiondbg.commands.interpreter.declaration import AliasTable, Command, CommandTable, Parsed
from actiondbg.commands.interpreter.error_text import message_of
from actiondbg.commands.interpreter.help import ALL, TOPICS, WIDTH
from actiondbg.commands.interpreter.options import fields_of
from actiondbg.commands.interpreter.words import split_redirect
from actiondbg.commands.render.renderer import as_json, show
from actiondbg.commands.render.status import Display, Displayed
from actiondbg.commands.render.stop import Reproduced
from actiondbg.commands.render.tables import fitted
from actiondbg.commands.render.terminal.output import Redirect
from actiondbg.errors import ActiondbgError, InternalError, UsageError
from actiondbg.process.stop import Stop

if TYPE_CHECKING:
    from actiondbg.commands.interpreter.console import Console
    from actiondbg.commands.interpreter.options import Field

_BEFORE_REDIRECT = re.compile(r"[>|]")
_NEWEST = re.compile(r"\$_(?!\w)")
_MOST_SCRIPTS = 50  # nested
_REPORTED_LINES = 1000  # the newest, in the report of an internal error
_SHORTCUTS = {"!": "shell", "?": "help"}


def split_command(line: str) -> tuple[str, str]:
    """Split a line into the command name and the text after it."""
    line = line.strip()
    if line[:1] in _SHORTCUTS:
        return _SHORTCUTS[line[0]], line[1:].strip()
    word, _, text = line.partition(" ")
    if "\t" in word:
        word, _, text = line.partition("\t")
    return word, text.strip()


class ScriptEnded(ActiondbgError):
    """The end of a script at a failing line, whose own error has been printed."""


class Lines:
    """A source of command lines: a script, the -ex options or a prompt.

    Args:
        name: the name of the script, for messages; None for other sources.
        typed: whether a user types the lines at the prompt.
    """

    def __init__(
        self, lines: Iterable[str], name: str | None = None, *, typed: bool = False
    ) -> None:
        self._lines: Iterator[str] = iter(lines)
        self.name = name
        self.typed = typed
        self.number = 0

    def next(self) -> str | None:
        line = next(self._lines, None)
        self.number += 1
        return line

    @property
    def place(self) -> str:
        """Return ``FILE:LINE: `` for the last line read; empty without a script."""
        return f"{self.name}:{self.number}: " if self.name else ""


class Interpreter:
    """The interpreter of one console; ``keep_going`` continues a script after a failing line."""

    def __init__(
        self, console: Console, commands: CommandTable, *, keep_going: bool = False
    ) -> None:
        self.console = console
        console.interpreter = self
        self.commands = commands
        self.aliases = AliasTable(commands)
        self.keep_going = keep_going
        self.failure: Exception | None = None  # the first; it determines the exit status
        self.repeat = ""  # the line that an empty line repeats
        self.lines = Lines(())
        self._depth = 0  # of nested scripts
        self._executed: deque[str] = deque(maxlen=_REPORTED_LINES)

    def run(self, lines: Lines) -> bool:
        """Execute lines up to the end, quit, or the first failure; return whether all succeeded."""
        outer, self.lines = self.lines, lines
        succeeded = True
        try:
            while not self.console.quitting and (line := lines.next()) is not None:
                succeeded = self.execute(line) and succeeded
                if not succeeded and not self.keep_going:
                    break
        finally:
            self.lines = outer
        return succeeded

    def execute(self, line: str) -> bool:
        """Execute one line, then the commands of the breakpoints it hit.

        Returns:
            Whether it succeeded, or can be left out, as after an internal error; the error has
            been printed.
        """
        succeeded, stop_lines = self._execute(line)
        while stop_lines and succeeded:
            # A loop, as a breakpoint whose commands continue may be hit a million times.
            outer, self.lines = self.lines, Lines(stop_lines)
            stop_lines = []
            try:
                while (next_line := self.lines.next()) is not None and not stop_lines:
                    succeeded, resumed = self._execute(next_line)
                    if not succeeded:
                        break
                    if resumed is not None:  # the remaining lines belong to the previous stop
                        stop_lines = resumed
                        break
            finally:
                self.lines = outer
        return succeeded

    def _execute(self, line: str) -> tuple[bool, list[str] | None]:
        """Execute one line.

        Returns:
            Whether to go on with the next line, and the lines to run at a new stop; None: no stop.
        """
        line = line.strip()
        if not line or line.startswith("#"):
            return True, None
        self._executed.append(line)
        attached = {b.id: list(b.commands) for b in self.console.session.breakpoints.all()}
        details: dict[str, object] = {}
        try:
            parsed = self.parse(line)
            self.repeat = line if parsed.command.repeats else ""
            with self.console.redirect(parsed.redirect):
                result = parsed.command.call(self.console, parsed.options)
                stop_lines = None
                if isinstance(result, Stop):
                    stop_lines = [
                        each for number in result.breakpoints for each in attached.get(number, [])
                    ]
                silent = bool(stop_lines) and stop_lines[0].strip() == "silent"
                if not silent:
                    self._show(result)
                details = show_stop_details(self.console, result, silent)
            self._emit_result(line, result, parsed.redirect, details)
        except BrokenPipeError:
            raise  # the reader of the output has exited
        except Exception as error:
            return self._fail(line, error), None
        return True, stop_lines[1:] if stop_lines and silent else stop_lines

    def display(self, line: str) -> object:
        """Run the line of a display and show its result; return it for JSON, None in text mode."""
        parsed = self.parse(line)
        with self.console.redirect(parsed.redirect):
            result = parsed.command.call(self.console, parsed.options)
            self._show(result)
        return as_json(result, parsed.redirect) if self.console.json else None

    def parse(self, line: str) -> Parsed:
        """Parse a line.

        Raises:
            UsageError: the command does not exist, or does not accept its arguments.
        """
        word, text = self.aliases.expand(*split_command(line))
        found = self.commands.find(word)
        if (asked := _help_asked(found, text)) is not None:
            found = self.commands.find("help")
            return Parsed(found, found.parse(asked), None)
        redirect = None
        resolved = found.subcommand(_BEFORE_REDIRECT.split(text, maxsplit=1)[0]) or found
        if resolved.splits_redirect(text):
            text, redirect = split_redirect(text)
        if redirect is not None:
            permission = "shell" if redirect.operator == "|" else "redirection"
            self.console.permissions.check(permission, f"{redirect.operator!r} behind a command")
        found, text = found.resolve(text)
        self.console.check(found)
        if any(each.complete is breakpoint_numbers for each in fields_of(found.options)):
            text = self._with_newest(text)
        return Parsed(found, found.parse(text), redirect)

    def _with_newest(self, text: str) -> str:
        """Replace ``$_``, which saved breakpoints use, by the number of the newest breakpoint."""
        if not _NEWEST.search(text):
            return text
        breakpoints = self.console.session.breakpoints.all()
        if not breakpoints:
            raise UsageError("There is no breakpoint for $_, the newest one: set one with 'break'.")
        return _NEWEST.sub(str(breakpoints[-1].id), text, count=1)

    def _show(self, result: object) -> None:
        if self.console.json and not self.console.redirected:
            return
        show(self.console, result)
        self.console.out.flush()

    def _emit_result(
        self, line: str, result: object, redirect: Redirect | None, details: dict[str, object]
    ) -> None:
        """Print a result as JSON; ``details`` are further keys of a stop."""
        if self.console.json and not self.console.quiet:
            whole = as_json(result, redirect)
            if details:
                whole = {**cast("dict[str, object]", whole), **details}
            self._emit({"command": line, "ok": True, "result": whole})

    def reported(self, line: str, error: Exception) -> Exception:
        """Return the error of a command for printing: an internal error is reported."""
        from actiondbg.commands.interpreter.error_text import as_reported

        return as_reported(error, line, self._executed, self.console.session)

    def _fail(self, line: str, raised: Exception) -> bool:
        """Print an error, at the only place that does; return whether to go on."""
        error = self.reported(line, raised)
        self.failure = self.failure or error
        self.repeat = ""
        message = self.lines.place + message_of(error)
        if self.console.json:
            answer: dict[str, object] = {"command": line, "ok": False, "error": message}
            if isinstance(error, InternalError):
                answer["report"] = error.report
            self._emit(answer)
            return isinstance(error, InternalError)
        self.console.out.flush()
        if not isinstance(error, ScriptEnded):
            print(self.console.fitted(message), file=self.console.err, flush=True)
        return isinstance(error, InternalError)

    def _emit(self, message: dict[str, object]) -> None:
        print(json.dumps(message, ensure_ascii=False), file=self.console.out, flush=True)

    # --- for commands ---------------------------------------------------------

    @property
    def scripted(self) -> bool:
        """Whether the current line comes from a script."""
        return self.lines.name is not None

    @property
    def typed(self) -> bool:
        """Whether a user typed the current line at the prompt."""
        return self.lines.typed

    def help(self, words: Sequence[str]) -> str:
        """Return the overview of all commands, a topic, a category, or the page of a command.

        Raises:
            UsageError: the command does not exist.
        """
        width = min(self.console.width or WIDTH, WIDTH)
        if not words:
            return help_text.overview(self.commands, self.console.refusal, width)
        word, *following = words
        if word in TOPICS:
            return help_text.topic(word, width)
        if word not in self.commands and not following:
            listed = help_text.summaries(self.commands, word, self.console.refusal, width)
            if listed is not None:
                return listed
        alias = self.aliases.get(word)
        if alias is not None:
            word, text = self.aliases.target(word)
            following = following or text.split()[:1]
        found = self.commands.find(word)
        found = found.resolve(following[0])[0] if following else found
        head = f"{alias.name}: {alias.kind} of {alias.line}\n\n" if alias else ""
        return head + help_text.page(found, self.console.refusal, width)

    def complete_help(self, before: list[str], word: str) -> list[str]:
        """Return the completions of an argument of ``help``: commands, topics, subcommands."""
        if before:
            found = self.commands.get(before[-1])
            return matching(found.subcommands if found else (), word)
        headings = map(help_text.heading_of, self.commands.categories())
        known = [*self.commands.names, *TOPICS, ALL, *headings, *self.aliases.lines]
        return matching(known, word)

    def complete_line(self, before: list[str], word: str) -> list[str] | None:
        """Return the completions of a word of a command line; None: complete a file name.

        The command may be given by any of its names.
        """
        if not before:
            return matching([*self.commands.names, *self.aliases.lines], word)
        command, text = self.aliases.target(before[0])
        try:
            found = self.commands.find(command)
        except UsageError:
            return []
        return candidates(self.console, found, [*text.split(), *before[1:]], word)

    def run_script(self, text: str, path: str) -> None:
        """Execute a script that has been read from a file.

        Raises:
            ScriptEnded: a line failed; its error has been printed.
        """
        if self._depth >= _MOST_SCRIPTS:
            raise UsageError(
                f"Scripts are nested {_MOST_SCRIPTS} deep at {path!r}: does a script source itself?"
            )
        self._depth += 1
        try:
            succeeded = self.run(Lines(text.splitlines(), path))
        finally:
            self._depth -= 1
        if not succeeded:
            raise ScriptEnded(f"{path}: a line of the script failed.")

    def block(self, *, strip: bool = True) -> list[str]:
        """Read the lines of a block up to its ``end``, which is not returned.

        Raises:
            UsageError: the ``end`` is missing.
        """
        lines: list[str] = []
        depth = 0
        while (line := self.lines.next()) is not None:
            word, _ = split_command(line)
            if word == "end":
                if depth == 0:
                    return lines
                depth -= 1
            elif strip and word == "commands":
                depth += 1
            lines.append(line.strip() if strip else line)
        raise UsageError("A block has no end: write 'end' after its last line.")


def _help_asked(command: Command, text: str) -> str | None:
    """Return what ``help`` describes where a command's only argument is --help or -h; else None."""
    words = text.split()
    if not {*words[-1:]} & {"--help", "-h"} or (
        words[:-1] and command.subcommand(words[0]) is None
    ):
        return None
    return " ".join([command.name, *words[:-1]]) if len(words) <= 2 else None


def candidates(
    console: Console, command: Command, before: list[str], word: str
) -> list[str] | None:
    """Return the completions of a word, up to the text cursor; None: complete a file name."""
    typed = Typed(console, before, word)
    if command.subcommands and (before or not command.fields):
        return _complete_subcommand(command, typed)
    if command.subcommands:
        return (_complete_arguments(command, typed) or []) + matching(command.subcommands, word)
    return _complete_arguments(command, typed)


def _complete_subcommand(command: Command, typed: Typed) -> list[str] | None:
    if not typed.before:
        return matching(command.subcommands, typed.word)
    try:
        found, _ = command.resolve(typed.before[0])
    except UsageError:
        return []
    if found is command:
        return _complete_arguments(command, typed)
    return candidates(typed.console, found, typed.before[1:], typed.word)


def _complete_arguments(command: Command, typed: Typed) -> list[str] | None:
    """Complete the options and the arguments of a command itself."""
    options = {each.option: each for each in command.fields if each.is_option}
    previous = options.get(typed.before[-1]) if typed.before else None
    if previous is not None and previous.takes_value:
        return _complete_field(previous, typed)
    if typed.word.startswith("-") and options:
        return matching(options, typed.word)
    if command.rest is not None:
        return command.rest.complete(typed) if command.rest.complete else []
    positional = [each for each in command.fields if not each.is_option]
    if not positional:
        return []
    return _complete_field(positional[min(_position(command, typed), len(positional) - 1)], typed)


def _complete_field(field: Field, typed: Typed) -> list[str] | None:
    """Complete the value of a field; in a comma-separated list, its last element."""
    if not field.offered:
        return field.complete(typed) if field.complete else []
    done, comma, _ = typed.word.rpartition(",")
    return matching([f"{done}{comma}{each}" for each in field.offered], typed.word)


def _position(command: Command, typed: Typed) -> int:
    """Return the number of positional words before the word to complete."""
    valued = {each.option for each in command.fields if each.takes_value}
    position = 0
    for previous, current in zip(["", *typed.before], typed.before, strict=False):
        position += not current.startswith("-") and previous not in valued
    return position


def show_stop_details(console: Console, result: object, silent: bool) -> dict[str, object]:
    """Write the reproducer of a crash, run the displays, and show both.

    Args:
        result: the result of a command; only stops have details.
        silent: the stop is not printed, nor are the displays.

    Returns:
        Further JSON keys of the stop.
    """
    if not isinstance(result, Stop):
        return {}
    if result.when == "exit":
        # Tell a user at the prompt how to go back from the end of the run.
        if console.interactive and not console.json and result.event and console.can_go_back:
            way = "reverse-step goes back to the last event, goto #N to any action."
            console.out.write(f"{console.fitted(way)}\n")
        return {}
    details: dict[str, object] = {}
    if result.is_crash and result.ordinal and console.settings.on("reproducer-directory"):
        reproduced = _reproduce(console)
        if not console.json:
            show(console, reproduced)
        details["reproducer"] = msgspec.to_builtins(reproduced)
    if not silent and (
        displayed := [run_display(console, each) for each in console.displays.all()]
    ):
        details["displays"] = msgspec.to_builtins(displayed)
    return details


def run_display(console: Console, one: Display) -> Displayed:
    """Run and show a display; its error is shown, but does not count as a failure."""
    if not console.json:
        console.out.write(f"{one.id}: {one.command}\n")
    console.displays.running = True
    try:
        result = console.interpreter.display(one.command)
    except BrokenPipeError:
        raise  # the reader of the output has exited
    except Exception as error:
        message = message_of(console.interpreter.reported(one.command, error))
        if not console.json:
            console.out.write(f"{fitted(f'  {message}', console.width)}\n")
        return Displayed(one.id, one.command, ok=False, error=message)
    finally:
        console.displays.running = False
    return Displayed(one.id, one.command, ok=True, result=result)


def _reproduce(console: Console) -> Reproduced:
    directory = os.path.expanduser(console.settings["reproducer-directory"])
    try:
        made = console.live_session().past.keep_reproducer(directory)
    except Exception as error:
        reported = console.interpreter.reported("the reproducer of the crash", error)
        return Reproduced(directory, error=message_of(reported))
    except KeyboardInterrupt:
        if not console.interactive:
            raise
        return Reproduced(directory, error="Interrupted.")
    path = os.path.join(directory, os.path.basename(made.path))
    return Reproduced(path, made.pipeline, list(made.command), is_new=made.is_new)
