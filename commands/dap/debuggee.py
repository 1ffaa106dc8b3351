"""What is debugged: the session, the shell's commands on it, and what clients hold of a stop."""

from __future__ import annotations

import codecs
import contextlib
import io
import os
import select
import threading
from collections.abc import Callable, Generator, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeVar

from actiondbg.commands.dap.configuration import (
    AttachRequestArguments,
    Configuration,
    LaunchRequestArguments,
)
from actiondbg.commands.dap.documents import IRDocuments
from actiondbg.commands.dap.progress import RequestProgress
from actiondbg.commands.interpreter.console import Console
from actiondbg.commands.interpreter.error_text import message_of
from actiondbg.commands.interpreter.interpreter import Interpreter, Lines
from actiondbg.commands.interpreter.permissions import Permissions
from actiondbg.commands.interpreter.recording_console import RecordingConsole
from actiondbg.commands.render.registry import show
from actiondbg.errors import NoSuchUnit, UsageError

if TYPE_CHECKING:
    from actiondbg.commands.dap.protocol.types import Variable
    from actiondbg.commands.interpreter.declaration import CommandTable
    from actiondbg.process.stop import Stop
    from actiondbg.session.debug_session import DebugSession
    from actiondbg.session.session import Session

T = TypeVar("T")
_WAY_TO_ALLOW = "add {!r} to 'allow' in the configuration"
_CHUNK = 1 << 16  # bytes

Show = Callable[[Literal["stdout", "stderr"], str], None]


class ProgramOutput:
    """Pipes for the standard streams of the tool, whose content a thread shows.

    Attributes:
        stdout: the end of a pipe for the tool.
        stderr: likewise.
    """

    def __init__(self, show: Show) -> None:
        self._show = show
        self._lock = threading.Lock()
        self._poll = select.poll()
        self._streams: dict[int, tuple[Literal["stdout", "stderr"], codecs.IncrementalDecoder]] = {}
        self._wake, self._waker = os.pipe()
        self._poll.register(self._wake, select.POLLIN)
        self.stdout, self.stderr = self._pipe("stdout"), self._pipe("stderr")
        self._thread = threading.Thread(target=self._run, daemon=True, name="dap-output")
        self._thread.start()

    def _pipe(self, name: Literal["stdout", "stderr"]) -> int:
        reader, writer = os.pipe()
        os.set_blocking(reader, False)
        self._streams[reader] = name, codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._poll.register(reader, select.POLLIN)
        return writer

    def flush(self) -> None:
        """Show all that the tool has written up to now."""
        with self._lock:
            while self._read(list(self._streams)):
                pass

    def close(self) -> None:
        """Show what the tool has written, and close the pipes."""
        os.write(self._waker, b"x")
        self._thread.join()
        self.flush()
        with self._lock:
            for reader, (name, decoder) in self._streams.items():
                if rest := decoder.decode(b"", final=True):
                    self._show(name, rest)
                os.close(reader)
            self._streams.clear()
        for each in (self.stdout, self.stderr, self._wake, self._waker):
            os.close(each)

    def _run(self) -> None:
        while True:
            ready = [number for number, _ in self._poll.poll()]
            if self._wake in ready:
                return
            with self._lock:
                self._read(ready)

    def _read(self, readers: list[int]) -> bool:
        """Show what can be read now; return whether there was anything."""
        found = False
        for reader in readers:
            name, decoder = self._streams[reader]
            chunk = b""
            with contextlib.suppress(BlockingIOError):
                chunk = os.read(reader, _CHUNK)
            if chunk:
                found = True
                if text := decoder.decode(chunk):
                    self._show(name, text)
        return found


class Handles:
    """Numbers for what a client may ask for at this stop; never the same number again."""

    def __init__(self) -> None:
        self._next = 1
        self._all: dict[int, object] = {}

    def add(self, what: object) -> int:
        number, self._next = self._next, self._next + 1
        self._all[number] = what
        return number

    def get(self, number: int, kind: type[T]) -> T:
        """Return the object of a number.

        Raises:
            NoSuchUnit: it belongs to another stop, or is of another kind.
        """
        found = self._all.get(number)
        if not isinstance(found, kind):
            raise NoSuchUnit(
                f"{number} is no frame or variable of this stop: ask for the stack again."
            )
        return found

    def clear(self) -> None:
        """Forget all: the stop is over."""
        self._all.clear()


class Children(NamedTuple):
    """The parts of a variable, read when a client asks for them."""

    read: Callable[[], list[Variable]]


class Executed(NamedTuple):
    """What a command line printed, and its error."""

    text: str
    notes: str
    error: str | None


class Debuggee:
    """The session of a client, with the console of its commands.

    Args:
        live: the same session if it runs a tool; None for a recording.
        output: of the tool; None if it is not ours.

    Attributes:
        handles: frames, variables and documents of the stop.
    """

    def __init__(
        self,
        session: DebugSession,
        live: Session | None,
        configuration: Configuration,
        commands: CommandTable,
        output: ProgramOutput | None = None,
        recorded: RecordingConsole | None = None,
    ) -> None:
        self.session = session
        self.live = live
        self.configuration = configuration
        self.handles = Handles()
        self.start_method: Literal["launch", "attach"] = (
            "attach" if isinstance(configuration, AttachRequestArguments) else "launch"
        )
        self.documents = IRDocuments(session, configuration.ir_lines)
        self._output = output
        self._out, self._err = io.StringIO(), io.StringIO()
        self.console = Console(
            session,
            live,
            interactive=True,
            color=False,
            out=self._out,
            err=self._err,
            recorded=recorded,
            permissions=Permissions(configuration.allow, _WAY_TO_ALLOW),
        )
        self.console.settings.set("confirm", "off")
        self.console.settings.set("print-stop", "off")  # the client shows the operation
        self.interpreter = Interpreter(self.console, commands)
        if live is not None:
            live.ask_together(configuration.ir_lines if configuration.show == "ir" else 0)

    def execute(self, lines: Sequence[str]) -> Executed:
        """Execute command lines of the shell, up to the first that fails."""
        self._take()
        self.interpreter.failure = None
        succeeded = self.interpreter.run(Lines(lines))
        out, err = self._take()
        return Executed(out, err, None if succeeded else err.rstrip() or "The command failed.")

    def ask(self, line: str) -> tuple[object, str]:
        """Run a command line of the shell; return its result, and the text of it."""
        self._take()
        parsed = self.interpreter.parse(line)
        result = parsed.command.call(self.console, parsed.options)
        show(self.console, result)
        return result, self._take()[0]

    @contextlib.contextmanager
    def showing(self, progress: RequestProgress) -> Generator[None]:
        before = self.console.progress
        self.console.progress, self.console.report_search = progress, progress.report
        try:
            yield
        finally:
            progress.end()
            self.console.progress, self.console.report_search = before, None

    @contextlib.contextmanager
    def not_resuming(self) -> Generator[None]:
        """Refuse to resume the tool in the block."""
        self.console.displays.running = True
        try:
            yield
        finally:
            self.console.displays.running = False

    def _take(self) -> tuple[str, str]:
        texts = self._out.getvalue(), self._err.getvalue()
        for each in (self._out, self._err):
            each.seek(0)
            each.truncate()
        return texts

    def message_of(self, doing: str, error: Exception) -> str:
        """Return the message of an error; an internal error is reported."""
        return message_of(self.interpreter.reported(doing, error))

    @property
    def stop(self) -> Stop | None:
        """The stop, or the end of the run; None while the tool runs."""
        return self.session.stop

    def flush(self) -> None:
        """Show all that the tool has written up to now."""
        if self._output is not None:
            self._output.flush()

    @property
    def stops_when_interrupted(self) -> bool:
        """Whether the interruption of a wait for the tool stops the tool."""
        return self.console.interactive

    @stops_when_interrupted.setter
    def stops_when_interrupted(self, stops: bool) -> None:
        self.console.interactive = stops

    def close(self) -> None:
        """End the session: a tool that it started is killed, a program goes on by itself."""
        self.session.close()
        if self._output is not None:
            self._output.close()


def launch(options: LaunchRequestArguments, commands: CommandTable, show: Show) -> Debuggee:
    """Make the session of a tool or a recording; nothing runs yet.

    Raises:
        UsageError: the configuration names neither or both, or is wrong otherwise.
        LaunchError: the tool is missing or unsuitable.
        RecordingError: the recording cannot be read.
    """
    if (options.tool is None) == (options.recording is None):
        raise UsageError("The configuration must name a 'tool' or a 'recording', and not both.")
    if options.cwd is not None:
        os.chdir(options.cwd)  # relative names of files in commands are meant there
    if options.recording is not None:
        return _open(options, options.recording, commands)
    return _launch(options, options.tool or "", commands, show)


def _open(options: LaunchRequestArguments, file: str, commands: CommandTable) -> Debuggee:
    from actiondbg.recording.session import open_session

    session = open_session(file, partial=options.partial)
    return Debuggee(session, None, options, commands, recorded=RecordingConsole(session))


def _launch(
    options: LaunchRequestArguments, tool: str, commands: CommandTable, show: Show
) -> Debuggee:
    from actiondbg.breakpoints.spec import split_spec_and_condition
    from actiondbg.session.session import launch as launch_session
    from actiondbg.tool.discovery import is_driver

    with contextlib.ExitStack() as kept:
        output = ProgramOutput(show)
        kept.callback(output.close)
        session = launch_session(
            [tool, *options.args],
            stdin=options.stdin or os.devnull,
            stdout=output.stdout,
            stderr=output.stderr,
            env=_environment(options.env),
            skips=options.skips,
            edits=options.edits,
            follow=options.follow,
            randomize=options.randomize,
            without=options.without,
        )
        kept.callback(session.close)
        for text in options.skip:
            session.skips.rules.add(*split_spec_and_condition(text))
        if not is_driver(session.target.argv):
            _ = session.target.tool
        kept.pop_all()  # the debuggee closes them
    return Debuggee(session, session, options, commands, output)


def _environment(changes: dict[str, str | None] | None) -> dict[str, str] | None:
    if not changes:
        return None
    merged = {**os.environ, **changes}
    return {name: value for name, value in merged.items() if value is not None}


def attach(options: AttachRequestArguments, commands: CommandTable) -> Debuggee:
    """Make the session of a Python program that waits.

    Raises:
        UsageError: the socket is missing.
        LaunchError: no program waits there.
    """
    from actiondbg.session.session import connect

    if options.socket is None:
        raise UsageError("The configuration must name the 'socket' at which the program waits.")
    session = connect(options.socket)
    return Debuggee(session, session, options, commands)
