"""What is debugged: the session, its configuration, its stops, and what clients hold of them."""

from __future__ import annotations

import codecs
import contextlib
import io
import os
import re
import select
import threading
from collections.abc import Callable, Generator, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeVar

from actiondbg.commands.dap import protocol
from actiondbg.commands.dap.ir_documents import IRDocuments
from actiondbg.commands.dap.protocol import Arguments
from actiondbg.commands.interpreter.console import Console
from actiondbg.commands.interpreter.declaration import Permission, Permissions
from actiondbg.commands.interpreter.interpreter import Interpreter, Lines
from actiondbg.commands.render.bisection import progress_words
from actiondbg.commands.render.renderer import as_json, show
from actiondbg.commands.render.terminal.progress import ProgressLine
from actiondbg.errors import NoSuchUnit, UsageError

if TYPE_CHECKING:
    from actiondbg.bisection.progress import Progress
    from actiondbg.commands.dap.protocol import Variable
    from actiondbg.commands.interpreter.declaration import CommandTable
    from actiondbg.process.stop import Stop
    from actiondbg.recording.session.recorded_session import DebugSession, RecordedSession
    from actiondbg.session.session import Session


class LaunchConfiguration(Arguments, frozen=True):
    """What ``launch`` and ``attach`` have in common.

    Attributes:
        stop_on_entry: stop before the first action.
        stop_at_end: stop at the end of the run, from which one can go back, instead of ending.
        show: the text to which frames belong: the input, or the IR at the stop.
        ir_document: the URI of the client's own document of the newest IR: frames in the IR are in
            it, instead of in a virtual document.
        ir_lines: lines of IR before and after the cursor in the document of the IR.
        print_stops: print each stop in the debug console.
        init_commands: command lines of the shell to execute before the start.
        allow: what the debug console may do beside debugging.
    """

    stop_on_entry: bool = False
    stop_at_end: bool = False
    show: Literal["input", "ir"] = "input"
    ir_document: str | None = None
    ir_lines: int = 200
    print_stops: bool = True
    init_commands: tuple[str, ...] = ()
    allow: tuple[Permission, ...] = ()


class LaunchRequestArguments(LaunchConfiguration, frozen=True):
    """The configuration of a session of a tool or a recording.

    Attributes:
        env: variables to add to the environment; null removes one.
        skip: a SPEC each: actions to skip.
        skips: a file of ``save skips``.
        edits: a file of ``save edits``.
        follow: a glob of the processes to debug, of a program that starts tools.
        without: capabilities of the agent to switch off.
        no_debug: run the tool without a stop.
    """

    tool: str | None = None
    args: tuple[str, ...] = ()
    recording: str | None = None
    partial: bool = False
    cwd: str | None = None
    env: dict[str, str | None] | None = None
    stdin: str | None = None
    skip: tuple[str, ...] = ()
    skips: str | None = None
    edits: str | None = None
    follow: str | None = None
    randomize: bool = False
    without: tuple[str, ...] = ()
    no_debug: bool = False


class AttachRequestArguments(LaunchConfiguration, frozen=True, kw_only=True):
    """The configuration of a session of a Python program that waits.

    Attributes:
        socket: the path that ``actiondbg.attach(wait=True)`` printed.
        process: in a configuration that the server made, the process of a child session.
        token: likewise, by which the server recognizes the child session.
    """

    socket: str | None = None
    process: str | None = None
    token: str | None = None


_LATE_SECONDS = 0.5


class RequestProgress(ProgressLine):
    """Sends events about a request that takes long; the waits in it are no progress of their own.

    Args:
        number: the number of the request, which is also that of its progress.
    """

    def __init__(self, send: Callable[[protocol.EventBody], None], number: int, title: str) -> None:
        super().__init__(io.StringIO(), enabled=False)
        self._send = send
        self._number = number
        self._title = title
        self._events = threading.Lock()
        self._is_shown = self._is_over = False
        self._timer = threading.Timer(_LATE_SECONDS, self._start)
        self._timer.daemon = True
        self._timer.start()

    def end(self) -> None:
        self._timer.cancel()
        with self._events:
            if self._is_shown:
                self._send(protocol.ProgressEndEvent(progress_id=str(self._number)))
            self._is_shown, self._is_over = False, True

    def change(self, text: str) -> None:
        self._update(text, None)

    def report(self, progress: Progress) -> None:
        total = None if progress.to_go is None else progress.trials + progress.to_go
        percentage = None if not total else round(100.0 * progress.trials / total, 1)
        self._update(progress.note or progress_words(progress), percentage)

    def _start(self) -> None:
        with self._events:
            if self._is_over:
                return
            self._is_shown = True
            self._send(
                protocol.ProgressStartEvent(
                    progress_id=str(self._number),
                    title=self._title,
                    request_id=self._number,
                    cancellable=True,
                )
            )

    def _update(self, message: str, percentage: float | None) -> None:
        with self._events:
            if self._is_shown:
                number = str(self._number)
                self._send(
                    protocol.ProgressUpdateEvent(
                        progress_id=number, message=message, percentage=percentage
                    )
                )


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
        configuration: LaunchConfiguration,
        commands: CommandTable,
        output: ProgramOutput | None = None,
        recorded: RecordedSession | None = None,
    ) -> None:
        self.session = session
        self.live = live
        self.configuration = configuration
        self.handles = Handles()
        self.start_method: Literal["launch", "attach"] = (
            "attach" if isinstance(configuration, AttachRequestArguments) else "launch"
        )
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
        self.documents = IRDocuments(session, self.console.ir_view, configuration.ir_lines)
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
        """Run a command line of the shell; return its result, as for --json, and its text."""
        self._take()
        parsed = self.interpreter.parse(line)
        result = parsed.command.call(self.console, parsed.options)
        keyed = as_json(result, None)
        show(self.console, result)
        return keyed, self._take()[0]

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

    @property
    def stop(self) -> Stop | None:
        """The stop, or the end of the run; None while the tool runs."""
        return self.session.stop

    def flush(self) -> None:
        """Show all that the tool has written up to now."""
        if self._output is not None:
            self._output.flush()

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
        from actiondbg.recording.session import open_session

        session = open_session(options.recording, partial=options.partial)
        return Debuggee(session, None, options, commands, recorded=session)
    return _launch(options, options.tool or "", commands, show)


def _launch(
    options: LaunchRequestArguments, tool: str, commands: CommandTable, show: Show
) -> Debuggee:
    from actiondbg.breakpoints.spec import split_spec_and_condition
    from actiondbg.session.session import launch as launch_session
    from actiondbg.tool.discovery import is_driver

    environment = None
    if options.env:
        merged = {**os.environ, **options.env}
        environment = {name: value for name, value in merged.items() if value is not None}
    with contextlib.ExitStack() as kept:
        output = ProgramOutput(show)
        kept.callback(output.close)
        session = launch_session(
            [tool, *options.args],
            stdin=options.stdin or os.devnull,
            stdout=output.stdout,
            stderr=output.stderr,
            env=environment,
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


_LOCATION = re.compile(r"(.+):(\d+):(\d+)")
_REASONS = {
    "start": "entry",
    "breakpoint": "breakpoint",
    "step": "step",
    "next": "step",
    "finish": "step",
    "until": "goto",
    "interrupt": "pause",
    "watch": "data breakpoint",
    "catch": "exception",
    "verify": "exception",
    "crash": "exception",
}


def thread_number(stop: Stop | None) -> int:
    """Return the number of the thread of a stop, from 1."""
    name = "t0" if stop is None or stop.thread is None else stop.thread
    return int(name[1:]) + 1


def stopped_event(stop: Stop, by: str) -> protocol.StoppedEvent:
    """Return the event of a stop.

    Args:
        stop: before, after or inside an action, or the end of a process of a program that runs on.
        by: the command line that led there; empty if it is unknown.
    """
    reason = _REASONS.get(stop.reason, "pause")
    if by == "pause":
        reason = by
    elif stop.reason == "until" and by.partition(" ")[0] != "goto":
        reason = "step"
    first, _, rest = str(stop).partition("\n")
    return protocol.StoppedEvent(
        reason=reason,
        description=first,
        text=rest.strip() or None,
        thread_id=thread_number(stop),
        all_threads_stopped=True,
        hit_breakpoint_ids=stop.breakpoints or None,
    )


def file_position(location: str | None) -> tuple[str, int, int] | None:
    """Return the path, line and column of a location; None if it names no line of a file."""
    match = _LOCATION.fullmatch(location or "")
    if match is None or match[2] == "0":
        return None
    path = os.path.abspath(match[1])
    return (path, int(match[2]), max(int(match[3]), 1)) if os.path.isfile(path) else None
