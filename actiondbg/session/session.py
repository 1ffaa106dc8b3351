"""A session: one debugged program, its runs and its breakpoints."""

from __future__ import annotations

import contextlib
import os
import weakref
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal, TypeVar

from actiondbg import protocol
from actiondbg.errors import ActiondbgError, LaunchError, UsageError
from actiondbg.process.execution import Execution, start_execution
from actiondbg.process.launch_options import LaunchOptions
from actiondbg.process.stop import Stop
from actiondbg.process.streams import Redirection, Streams
from actiondbg.process.tool_process import is_shared
from actiondbg.session.belongings import Belongings
from actiondbg.session.skip_plan import Skipping
from actiondbg.support.closeable import Closeable
from actiondbg.support.interrupts import HeldInterrupts
from actiondbg.tool import Tool
from actiondbg.tool.known_names import KINDS, KnownNames, NameKind
from actiondbg.tool.program import Program

R = TypeVar("R", bound=protocol.Message)

State = Literal["not-running", "stopped", "running", "exited"]

_LEARN_SECONDS = 1.0  # names are a convenience: the end of a session does not wait for them


def launch(
    argv: list[str],
    *,
    mlir_include: str | os.PathLike[str] | None = None,
    stdin: Redirection = None,
    stdout: Redirection = None,
    stderr: Redirection = None,
    cwd: str | os.PathLike[str] | None = None,
    env: Mapping[str, str] | None = None,
    on_compile: Callable[[], None] | None = None,
    skips: str | os.PathLike[str] | None = None,
) -> Session:
    """Make a session; nothing runs yet.

    Args:
        argv: the tool's command line, such as ``["mlir-opt", "in.mlir", "--canonicalize"]``.
        mlir_include: the tool's MLIR headers, when they are not found by themselves.
        stdin: a path, a file or its descriptor; None for ours, unless ours is a terminal.
        stdout: a path, a file or its descriptor, or "inherit" for ours; None for a file of the
            session's, which ``output`` reads.
        stderr: as ``stdout``; ``errors`` reads it.
        cwd: where the tool runs; None for here.
        env: the tool's environment; None for ours.
        on_compile: called when the agent is compiled, which takes some seconds, once.
        skips: a file that ``save_skips`` wrote: these actions are skipped in each run.

    Raises:
        UsageError: the command line is empty, or the skips cannot be read.
    """
    program = Program(list(argv), mlir_include, cwd, env, on_compile)
    session = Session(program, Streams(stdin, stdout, stderr))
    if skips is not None:
        session.load_skips(skips)
    return session


class Session(Skipping, Closeable):
    """One debugged program; use it as a context manager, or ``close`` it.

    A KeyboardInterrupt while it waits for a stop leaves the tool running: ``interrupt`` has it
    stop, and ``wait`` waits for that.
    """

    def __init__(self, program: Program, streams: Streams) -> None:
        super().__init__()
        self._program = program
        self._streams = streams
        self._run_streams = streams
        self._control: protocol.Control = "continue"
        self._attempts = 0  # to start the tool once more, beside the one that there is
        self._spool = ""  # where in the session's directory its output is
        self._held = HeldInterrupts()
        self._names: KnownNames | None = None
        self._kept = Belongings()
        self._closed = False
        self._finalizer = weakref.finalize(self, self._kept.release)

    def close(self) -> None:
        """End the tool, and remove everything that the session has put on disk."""
        if not self._closed:
            self._learn()
        self._closed = True
        self._finalizer()

    # --- the program and its state ---

    @property
    def program(self) -> Program:
        """The program: its command line, and what surrounds it."""
        return self._program

    @property
    def streams(self) -> Streams:
        """Where the tool's standard streams go in this run."""
        return self._run_streams

    @property
    def argv(self) -> list[str]:
        """The tool's command line."""
        return self._program.argv

    @property
    def tool(self) -> Tool:
        """The tool; raises LaunchError when there is none that the agent can be put into."""
        return self._program.tool

    @property
    def state(self) -> State:
        """Whether the tool runs."""
        return self._kept.run.state if self._kept.run else "not-running"

    @property
    def stop(self) -> Stop | None:
        """Where the tool stands, or how it ended; None while it runs, and before."""
        run = self._kept.run
        return run.stop if run and run.state != "running" else None

    @property
    def hello(self) -> protocol.Hello | None:
        """What the agent said of itself and the tool in this run, or None."""
        return self._kept.run.hello if self._kept.run else None

    @property
    def pid(self) -> int | None:
        """The process id of the tool, or None when there is no process."""
        run = self._kept.run
        return run.pid if run and run.state != "exited" else None

    @property
    def exit_status(self) -> int | None:
        """The status with which the tool ended, negative for a signal, or None."""
        return self.stop.status if self.stop else None

    # --- runs ---

    def run(
        self,
        args: list[str] | None = None,
        *,
        stdin: Redirection = None,
        stdout: Redirection = None,
        stderr: Redirection = None,
    ) -> Stop:
        """Run the tool from its start to a breakpoint or its end; a run before is ended.

        Args:
            args: new arguments, which are kept; None for those of before.
            stdin: for this run, see ``launch``; None for what ``launch`` got.
            stdout: as ``stdin``.
            stderr: as ``stdin``.

        Raises:
            LaunchError: the tool could not be started, or the agent not be put into it.
        """
        return self._begin("continue", args, stdin, stdout, stderr)

    def start(
        self,
        args: list[str] | None = None,
        *,
        stdin: Redirection = None,
        stdout: Redirection = None,
        stderr: Redirection = None,
    ) -> Stop:
        """Run the tool from its start, and stop before its first action; see ``run``."""
        return self._begin("step", args, stdin, stdout, stderr)

    def restart(self) -> Stop:
        """Do the last run or start again; the breakpoints are kept, the checkpoints are not."""
        return self._begin_run()

    def kill(self) -> None:
        """End the tool, if it runs; its past can no longer be asked then."""
        self._learn()
        if self._kept.run is not None:
            self._kept.run.kill()
            self._count_hits()
        self._kept.run = None
        self._forget_stop()

    def interrupt(self) -> None:
        """Have the running tool stop before its next action; return at once.

        Asked again while it still runs, the tool stops at once, inside the action.
        """
        if self._kept.run is not None:
            self._kept.run.interrupt()

    def wait(self) -> Stop:
        """Wait for the next stop, or return that at which the tool stands."""
        return self._arrive(self._need_run().wait)

    # --- controls ---

    def skip(self, count: int = 1) -> Stop:
        """Leave this action out, and go on to the next breakpoint.

        Args:
            count: how many stops to pass, each with its action left out; from 1.

        Raises:
            ControlRefused: the action is over, or the tool stands in it.
        """
        # One by one: a run that is repeated has to leave out the same actions.
        stop = self._resume("skip", min(count, 1))
        for _ in range(count - 1):
            if stop.reason not in ("breakpoint", "watch"):
                break
            stop = self._resume("skip" if stop.when == "before" else "continue")
        return stop

    def apply(self, count: int = 1) -> Stop:
        """Carry this action out, and go on to the next breakpoint; see ``skip``."""
        return self._resume("apply", count)

    # --- what the tool wrote, and the names that it knows ---

    def output(self) -> str:
        """Return the tool's stdout so far; raises UsageError when it went elsewhere."""
        return self._spooled("stdout", self._run_streams.stdout)

    def errors(self) -> str:
        """Return the tool's stderr so far; raises UsageError when it went elsewhere."""
        return self._spooled("stderr", self._run_streams.stderr)

    def names(self, kind: NameKind) -> list[str]:
        """List the names of tags, patterns, passes or operations of the tool, sorted.

        They come from the agent at a stop, and from earlier runs of the tool.

        Args:
            kind: "tag", "pattern", "pass" or "op".
        """
        known = self._known_names()
        if known is None:
            return []
        if self.state == "stopped":
            known.add(kind, self._ask(protocol.GetNames(kind=kind)).names)
        return known.get(kind)

    # --- behind them ---

    @property
    def _current(self) -> Execution | None:
        return self._kept.run

    def _ask(self, message: protocol.Request[R]) -> R:
        return self._need_run().request(message)

    def _file(self, name: str) -> Path:
        if self._closed:
            raise UsageError("The session is closed: launch another.")
        return self._kept.directory() / name

    def _begin(
        self,
        control: protocol.Control,
        args: list[str] | None,
        stdin: Redirection,
        stdout: Redirection,
        stderr: Redirection,
    ) -> Stop:
        if args is not None:
            self._program.argv[1:] = args
        given = {"stdin": stdin, "stdout": stdout, "stderr": stderr}
        redirected = {name: where for name, where in given.items() if where is not None}
        self._run_streams = self._streams._replace(**redirected)
        self._control = control
        return self._begin_run()

    def _begin_run(self) -> Stop:
        with self._held:  # else Ctrl-C could leave a directory, or a process, that nobody knows of
            directory = self._file("")
        agent = self._program.agent()
        self.kill()
        self._list.forget_hits()
        # What is skipped is looked for at the first stop.
        replays = self._replay_loaded()
        control = "step" if replays else self._control
        beginning = self._beginning(protocol.Resume(control=control))
        with self._held:
            self._kept.run = start_execution(
                self._program, agent, directory, self._run_streams, beginning
            )
            self._spool = ""
        stop = self.wait()
        if self._control == control or stop.when != "before" or stop.breakpoints:
            return stop
        return self._resume(self._control)

    def _start_again(self, beginning: LaunchOptions) -> Execution:
        agent = self._program.agent()
        with self._held:
            self._attempts += 1
            directory = self._file(f"{self._attempts}")
            directory.mkdir()
            return start_execution(self._program, agent, directory, self._run_streams, beginning)

    def _take_over(self, run: Execution) -> None:
        with self._held:
            if self._kept.run is not None:
                self._kept.run.kill()
            self._kept.run = run
            self._spool = run.directory.name

    def _shared(self) -> list[int]:
        streams = ((1, self._run_streams.stdout), (2, self._run_streams.stderr))
        return [number for number, where in streams if is_shared(where)]

    def _ended(self) -> None:
        if self._names is not None:
            self._names.save()

    def _spooled(self, name: str, where: Redirection) -> str:
        if where is not None:
            raise UsageError(f"The tool's {name} was sent elsewhere: read it there.")
        file = self._file(self._spool) / name
        return file.read_text(encoding="utf-8", errors="replace") if file.exists() else ""

    def _known_names(self) -> KnownNames | None:
        if self._names is None:
            try:
                tool = self.tool
            except LaunchError:
                return None
            self._names = KnownNames(f"{tool.path}\0{tool.build_id}")
        return self._names

    def _learn(self) -> None:
        """Keep the names and the hits that a stopped agent knows before the tool is ended."""
        if self.state != "stopped":
            return
        with contextlib.suppress(ActiondbgError, TimeoutError):
            run, known = self._need_run(), self._known_names()
            self._list.count(run.request(protocol.GetHits(), _LEARN_SECONDS).hits)
            if known is None:
                return
            for kind in KINDS:
                names = run.request(protocol.GetNames(kind=kind), _LEARN_SECONDS).names
                known.add(kind, names)
            known.save()
