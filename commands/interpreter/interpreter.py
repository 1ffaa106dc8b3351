"""Run command lines: find the command, parse, run, and show its result or its error."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from actiondbg.commands.interpreter.completers import breakpoint_numbers, matching
from actiondbg.commands.interpreter.completion import candidates
from actiondbg.commands.interpreter.declaration import Command, CommandTable
from actiondbg.commands.interpreter.error_text import message_of
from actiondbg.commands.interpreter.help import TOPICS, overview, page
from actiondbg.commands.interpreter.options import Options, fields_of
from actiondbg.commands.interpreter.stop_display import arrive
from actiondbg.commands.interpreter.words import split_redirect
from actiondbg.commands.render.output import Redirect
from actiondbg.commands.render.registry import as_json, show
from actiondbg.errors import ActiondbgError, UsageError
from actiondbg.process.stop import Stop

if TYPE_CHECKING:
    from actiondbg.commands.interpreter.console import Console

_NEWEST = re.compile(r"\$_(?!\w)")
_MOST_SCRIPTS = 50  # that source each other
_SHORTCUTS = {"!": "shell", "?": "help"}


def split_command(line: str) -> tuple[str, str]:
    """Split a line into the command's word and the text after it."""
    line = line.strip()
    if line[:1] in _SHORTCUTS:
        return _SHORTCUTS[line[0]], line[1:].strip()
    word, _, text = line.partition(" ")
    if "\t" in word:
        word, _, text = line.partition("\t")
    return word, text.strip()


class ScriptEnded(ActiondbgError):
    """A script ended at a failing line, whose own error has been printed."""


class Lines:
    """Where command lines come from: a script, the command line, a prompt.

    Args:
        lines: the lines, without their ends.
        name: the script's, for messages; None where a line needs no place.
    """

    def __init__(self, lines: Iterable[str], name: str | None = None) -> None:
        self._lines: Iterator[str] = iter(lines)
        self.name = name
        self.number = 0

    def next(self) -> str | None:
        """Return the next line, None at the end."""
        line = next(self._lines, None)
        self.number += 1
        return line

    @property
    def place(self) -> str:
        """Return ``FILE:LINE: `` of the line read last, or nothing."""
        return f"{self.name}:{self.number}: " if self.name else ""


@dataclass
class Parsed:
    """A line that was understood."""

    command: Command
    options: Options
    redirect: Redirect | None


class Interpreter:
    """Executes lines for one console.

    Args:
        console: what the commands act on, and where their results go.
        commands: those that there are.
        keep_going: a failing line does not end a script.
    """

    def __init__(
        self, console: Console, commands: CommandTable, *, keep_going: bool = False
    ) -> None:
        self.console = console
        console.interpreter = self
        self.commands = commands
        self.keep_going = keep_going
        self.failure: Exception | None = None  # the first one; a batch exits by it
        self.repeat = ""  # what Enter on an empty line does
        self.lines = Lines(())
        self._depth = 0  # of scripts

    def run(self, lines: Lines) -> bool:
        """Execute lines to their end, to quit, or to the first that fails.

        Returns:
            whether all succeeded.
        """
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
        """Execute one line, then the commands of the breakpoints that it stopped at.

        Returns:
            whether it succeeded; its error has been printed if not.
        """
        succeeded, stop_lines = self._execute(line)
        while stop_lines and succeeded:
            # Not recursive: a breakpoint whose commands continue may be hit a million times.
            outer, self.lines = self.lines, Lines(stop_lines)
            stop_lines = []
            try:
                while (next_line := self.lines.next()) is not None and not stop_lines:
                    succeeded, resumed = self._execute(next_line)
                    if not succeeded:
                        break
                    if resumed is not None:  # the rest was meant for the stop that is over
                        stop_lines = resumed
                        break
            finally:
                self.lines = outer
        return succeeded

    def _execute(self, line: str) -> tuple[bool, list[str] | None]:
        """Execute one line; return success, and what a new stop wants executed (None: no stop)."""
        line = line.strip()
        if not line or line.startswith("#"):
            return True, None
        waiting = {b.id: list(b.commands) for b in self.console.session.breakpoints.all()}
        beside: dict[str, object] = {}
        try:
            parsed = self.parse(line)
            self.repeat = line if parsed.command.repeats else ""
            with self.console.redirect(parsed.redirect):
                result = parsed.command.call(self.console, parsed.options)
                stop_lines = _lines_of_stop(result, waiting)
                silent = bool(stop_lines) and stop_lines[0].strip() == "silent"
                if not silent:
                    self._show(result)
                beside = arrive(self.console, result, silent)
            self._emit_result(line, result, parsed.redirect, beside)
        except BrokenPipeError:
            raise  # nobody reads us any more: there is nothing left to do
        except (ActiondbgError, OSError) as error:
            self._fail(line, error)
            return False, None
        return True, stop_lines[1:] if stop_lines and silent else stop_lines

    def display(self, line: str) -> object:
        """Run a line beside a stop, and show it.

        Returns:
            its result as JSON has it, for a reader of JSON.
        """
        parsed = self.parse(line)
        with self.console.redirect(parsed.redirect):
            result = parsed.command.call(self.console, parsed.options)
            self._show(result)
        return as_json(result, parsed.redirect) if self.console.json else None

    def parse(self, line: str) -> Parsed:
        """Understand a line.

        Raises:
            UsageError: there is no such command, or it does not take such words.
        """
        word, text = split_command(line)
        found = self.commands.find(word)
        redirect = None
        if found.takes_redirects:
            text, redirect = split_redirect(text)
        found, text = found.resolve(text)
        self.console.check(found)
        if any(each.complete is breakpoint_numbers for each in fields_of(found.options)):
            text = self._with_newest(text)
        return Parsed(found, found.parse(text), redirect)

    def _with_newest(self, text: str) -> str:
        """Replace ``$_`` by the newest breakpoint's number; saved breakpoints use it."""
        if not _NEWEST.search(text):
            return text
        breakpoints = self.console.session.breakpoints.all()
        if not breakpoints:
            raise UsageError("$_ is the newest breakpoint, and there is none.")
        return _NEWEST.sub(str(breakpoints[-1].id), text, count=1)

    def _show(self, result: object) -> None:
        if self.console.json and not self.console.redirected:
            return
        show(self.console, result)
        self.console.out.flush()

    def _emit_result(
        self, line: str, result: object, redirect: Redirect | None, beside: dict[str, object]
    ) -> None:
        """Emit a result as JSON; ``beside`` are the keys of what a stop brought with it."""
        if self.console.json and not self.console.quiet:
            whole = as_json(result, redirect)
            if beside:
                whole = {**cast("dict[str, object]", whole), **beside}
            self._emit({"command": line, "ok": True, "result": whole})

    def _fail(self, line: str, error: Exception) -> None:
        """Print an error: the one place that does."""
        self.failure = self.failure or error
        self.repeat = ""
        message = self.lines.place + message_of(error)
        if self.console.json:
            self._emit({"command": line, "ok": False, "error": message})
            return
        self.console.out.flush()
        if not isinstance(error, ScriptEnded):
            print(message, file=self.console.err, flush=True)

    def _emit(self, message: dict[str, object]) -> None:
        print(json.dumps(message, ensure_ascii=False), file=self.console.out, flush=True)

    # --- for commands ---------------------------------------------------------

    @property
    def scripted(self) -> bool:
        """Whether the line that is executed came from a script, not from the prompt."""
        return self.lines.name is not None

    def check(self, line: str) -> Command:
        """Return the command of a line that can be run.

        Raises:
            UsageError: see ``parse``.
        """
        return self.parse(line).command

    def help(self, words: Sequence[str]) -> str:
        """Return the overview of all commands, a topic, or the page of a command.

        Raises:
            UsageError: there is no such command.
        """
        if not words:
            return overview(self.commands, self.console.refusal)
        word, *following = words
        if word in TOPICS:
            return TOPICS[word]
        found = self.commands.find(word)
        found = found.resolve(following[0])[0] if following else found
        return page(found, self.console.refusal)

    def offer_names(self, before: list[str], word: str) -> list[str]:
        """Return what the name of a command can become; after it, that of a subcommand."""
        if before:
            found = self.commands.get(before[-1])
            return matching(found.subcommands if found else (), word)
        return matching([*self.commands.names, *TOPICS], word)

    def offer_line(self, before: list[str], word: str) -> list[str] | None:
        """Return what a word of a command line can become; None: the name of a file."""
        if not before:
            return matching(self.commands.names, word)
        found = self.commands.get(before[0])
        return candidates(self.console, found, before[1:], word) if found else []

    def source(self, path: str) -> None:
        """Execute a script.

        Raises:
            OSError: it cannot be read.
            ScriptEnded: a line of it failed, which has been printed.
        """
        if self._depth >= _MOST_SCRIPTS:
            raise UsageError(
                f"{path!r} is {_MOST_SCRIPTS} scripts deep: does a script source itself?"
            )
        with open(os.path.expanduser(path), encoding="utf-8", errors="replace") as file:
            lines = Lines(file.read().splitlines(), path)
        self._depth += 1
        try:
            succeeded = self.run(lines)
        finally:
            self._depth -= 1
        if not succeeded:
            raise ScriptEnded(f"{path}: a line of the script failed.")

    def block(self, *, strip: bool = True) -> list[str]:
        """Read lines up to the ``end`` that closes a block, which is not returned.

        Args:
            strip: whether the indentation is taken off.

        Raises:
            UsageError: there is none.
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
        raise UsageError("A block is not closed: write 'end' after its last line.")


def _lines_of_stop(result: object, commands: dict[int, list[str]]) -> list[str] | None:
    """Return the lines of the breakpoints of a stop; None if the result is no stop."""
    if not isinstance(result, Stop):
        return None
    return [line for number in result.breakpoints for line in commands.get(number, [])]
