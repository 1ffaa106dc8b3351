"""The recorder: runs a tool and records its actions."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import signal
import stat
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, ParamSpec, get_args

from actiondbg.errors import ActiondbgError, LaunchError, UsageError
from actiondbg.process.streams import Redirection, Streams
from actiondbg.recording.format.structs import IRDetail
from actiondbg.support.closeable import Closeable
from actiondbg.support.counts import as_texts
from actiondbg.support.interrupts import undisturbed
from actiondbg.support.recording_file import is_recording
from actiondbg.support.scratch_directory import is_full, make_scratch, remove_directory
from actiondbg.tool.program import Program, StartedProgram
from actiondbg.tool.seen_programs import SeenPrograms

P = ParamSpec("P")

REFUSED = 3  # the status with which an agent ends a tool that it cannot record
_END_SECONDS = 5.0  # between SIGTERM and SIGKILL


class RecordedRun(NamedTuple):
    """A recorded run that has ended.

    Args:
        path: the recording; None if the tool made no MLIR context.
        status: the tool's exit status, negative for a signal.
        others: the recordings of the second and later processes of a program.
        is_program: whether it was a program that may start tools; the status is that of the
            program, and a process of it may have been killed.
        follow: the glob of the processes to record; None for all.
        seen: of a program without a recording, why nothing was observed and what to do: a clause;
            None if that is unknown.
        unobserved: which processes of a program ran unobserved, and why; None without any.
    """

    path: Path | None
    status: int
    others: tuple[Path, ...] = ()
    is_program: bool = False
    follow: str | None = None
    seen: str | None = None
    unobserved: str | None = None


class RecordingProcess(Closeable):
    """A running tool that is recorded; leaving its ``with`` block terminates the tool.

    Of a program it terminates all processes, and they end with this process, however it ends.

    Args:
        started: the tool, or a program that starts tools, of which several may be recorded.
        path: the recording, if there is one.
        follow: the glob of the processes to record; None for all.
        scratch: the folder for what the processes of a program note, owned by this object; None
            for a tool.
        is_interrupted: whether Ctrl-C reaches the process by itself, and one signal is enough.
    """

    def __init__(
        self,
        started: StartedProgram,
        path: Path | None,
        follow: str | None = None,
        scratch: Path | None = None,
        is_interrupted: bool = False,
    ) -> None:
        self.process, self._guard = started
        self._scratch = scratch
        self._is_interrupted = is_interrupted
        self.path = path
        self._follow = follow

    def wait(self) -> RecordedRun:
        """Wait for the end of the tool; Ctrl-C interrupts the tool, not the wait.

        Raises:
            ActiondbgError: nothing was recorded, as the disk is full.
        """
        while self.process.returncode is None:
            try:
                # Popen.wait alone would hold an interrupt back for a quarter of a second.
                self._ends_in(None)
                self.process.wait()
            except KeyboardInterrupt:
                self.interrupt()
        return self._recorded()

    def interrupt(self) -> None:
        """Interrupt the tool: from a terminal it got Ctrl-C too, from `kill` only we did."""
        if not self._is_interrupted:
            self.process.send_signal(signal.SIGINT)

    def poll(self, seconds: float) -> RecordedRun | None:
        """Wait for the end of the tool, with a time limit; return None if it still runs."""
        try:
            if self._ends_in(seconds):
                return self.wait()
        except KeyboardInterrupt:
            self.interrupt()
        return None

    def ends_within(self, seconds: float) -> bool:
        """Wait for the end of the tool, with a time limit; an interrupt does not end the wait."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if self.poll(left) is not None:
                return True
        return False

    def close(self) -> None:
        """Terminate the tool if it still runs; its actions up to then are recorded."""
        if self.process.returncode is None:
            if self._guard is not None:
                self._guard.terminate()
            self.process.terminate()
            try:
                self.process.wait(_END_SECONDS)
            except (subprocess.TimeoutExpired, KeyboardInterrupt):
                self.process.kill()
                self.process.wait()
            if self._guard is not None:
                self._guard.kill()
            if self.path is not None and not _is_begun(self.path):
                _remove_unclaimed(self.path)
        if self._guard is not None:
            self._guard.close()
        if self._scratch is not None:
            remove_directory(self._scratch)

    def _ends_in(self, seconds: float | None) -> bool:
        """Wait for the end without the up to 50 ms that Popen.wait(timeout) adds by polling.

        None is no limit.
        """
        # Imported late, while the tool already runs.
        from actiondbg.support.interrupts import wait_for_end
        from actiondbg.support.processes import open_pidfd

        if self.process.returncode is not None:
            return True
        try:
            pidfd = open_pidfd(self.process.pid)
        except ProcessLookupError:
            return True  # a handler of signals has reaped it
        except LaunchError:
            return self._is_seen_to_end_in(seconds)
        try:
            return wait_for_end(pidfd, seconds)
        finally:
            os.close(pidfd)

    def _is_seen_to_end_in(self, seconds: float | None) -> bool:
        """Wait for the end by polling, where the kernel has no pidfd_open."""
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def _recorded(self) -> RecordedRun:
        path = self.path
        if path is not None and not _is_begun(path):
            _remove_unclaimed(path)
            _need_space(path.parent)
            path = None
        elif path is not None and self.process.returncode == REFUSED and _is_locked(path):
            path = None  # another tool writes it
        is_program = self._guard is not None
        if self._guard is not None:
            self._guard.close()
        others = other_recordings(path) if path is not None and is_program else []
        run = RecordedRun(path, self.process.returncode, tuple(others), is_program, self._follow)
        if self._scratch is None:
            return run
        noted = SeenPrograms(self._scratch)
        seen = noted.explain() if path is None else None
        return run._replace(seen=seen, unobserved=noted.new_unobserved())


def _is_begun(path: Path) -> bool:
    """Return whether anything was recorded."""
    return path.exists() and path.stat().st_size > 0


def _remove_unclaimed(path: Path) -> None:
    """Remove an empty recording, unless another tool holds its lock and will write it."""
    with contextlib.suppress(OSError), path.open("r+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        path.unlink()


def _is_locked(path: Path) -> bool:
    """Return whether another tool writes a recording."""
    try:
        with path.open("r+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def _need_space(directory: Path) -> None:
    """Raise ActiondbgError if an empty recording is empty for want of space."""
    if is_full(directory):
        raise ActiondbgError(
            f"Nothing was recorded, as no space is left in {directory}: free some, or name a "
            "directory on another disk (TMPDIR for temporary files)."
        )


def start_recording(
    argv: Sequence[str],
    output: str | os.PathLike[str] | None,
    *,
    ir: IRDetail = "none",
    ir_of: range | None = None,
    events: Sequence[str] = (),
    lineage: bool = False,
    checks: bool = False,
    one_thread: bool = False,
    reverse: bool = False,
    stdin: Redirection = None,
    stdout: Redirection = None,
    stderr: Redirection = None,
    cwd: str | os.PathLike[str] | None = None,
    env: Mapping[str, str] | None = None,
    upstream_log: str | os.PathLike[str] | None = None,
    randomize: bool = False,
    skip: Sequence[str] = (),
    follow: str | None = None,
    without: Sequence[str] = (),
) -> RecordingProcess:
    """Start a tool and record its actions. The tool ends when this thread does.

    Args:
        argv: its command line, such as ``["mlir-opt", "in.mlir", "--canonicalize"]``.
        output: the path of the recording; an existing recording is replaced. None for no
            recording, with ``upstream_log``.
        ir: the IR to record: "changed" (the operations that an action changes, before and after),
            "function" (the functions around them), "pass" (likewise, of passes only), "output"
            (that after the last action only, which the others have, too) or "none".
        ir_of: the ordinals of the actions of which "function" and "pass" are recorded; None for
            all.
        events: the names of the events to count at each action, or ``["default"]``; see
            docs/stat.md.
        lineage: whether to record what docs/lineage.md needs.
        checks: whether to check that patterns keep the rules of rewriting, see docs/lint.md.
        one_thread: whether the tool's own threads are off, so that each run has the same actions.
        reverse: whether patterns of the same benefit are tried in the opposite order, but not in
            dialect conversions.
        stdin: a path, a file or its descriptor; None for ours.
        stdout: as ``stdin``.
        stderr: as ``stdin``.
        cwd: the tool's working directory; None for ours.
        env: the tool's environment; None for ours.
        upstream_log: the path for a log like that of the tool's own --log-actions-to.
        randomize: whether the tool's addresses are random, so that runs may differ.
        skip: SPECs, each with ``if EXPR`` or without, of actions to skip.
        follow: a glob of the processes to record of a program that starts tools, see ``launch``;
            the second and later ones are recorded in files of their own.
        without: names of capabilities that the agent does not use, see ``launch``.

    Raises:
        UsageError: the command line is empty, a glob is wrong, an event or a capability is
            unknown, there is no such IR, what is to be recorded needs one that is switched off,
            or ``output`` exists and is not a recording.
        LaunchError: the tool cannot be started, or a file cannot be opened.
    """
    check_ir(ir)
    program = Program(argv, cwd, env, randomize, follow, without)
    needed = {"record": True, "lineage": lineage, "print": ir != "none", "skip": bool(skip)}
    for name in program.without:
        if needed.get(name):
            raise UsageError(
                f"What is to be recorded needs the capability {name!r}, which is switched off: "
                "leave out one of the two."
            )
    variables = _agent_environment(output, ir, ir_of, events, upstream_log)
    kept = {"LINEAGE": lineage, "CHECKS": checks, "ONE_THREAD": one_thread, "REVERSED": reverse}
    variables |= {f"ACTIONDBG_RECORD_{name}": "on" for name, on in kept.items() if on and output}
    variables["ACTIONDBG_RECORD_LLVM"] = program.tool.llvm() or ""
    if skip:
        variables["ACTIONDBG_RECORD_SKIPS"] = encoded_rules(skip)
    program.prepare()  # before a recording is replaced
    with Streams(stdin, stdout, stderr).opened() as streams:
        path = None if output is None else create_recording(output)
        scratch: Path | None = None
        try:
            if program.is_followed:
                scratch = make_scratch("record")
                variables |= SeenPrograms(scratch).variables
            if path is not None and program.is_followed:
                for stale in other_recordings(path):
                    stale.unlink()
            started = program.popen(variables, streams)
            return RecordingProcess(started, path, program.follow, scratch)
        except BaseException:
            if scratch is not None:
                remove_directory(scratch)
            if path is not None:
                path.unlink(missing_ok=True)
            raise


def _waiting(start: Callable[P, RecordingProcess]) -> Callable[P, RecordedRun]:
    def record(*args: P.args, **kwargs: P.kwargs) -> RecordedRun:
        """Run a tool to its end and record its actions; see ``start_recording``."""
        with start(*args, **kwargs) as running:
            return running.wait()

    return record


record = _waiting(start_recording)  # same parameters


def _agent_environment(
    output: str | os.PathLike[str] | None,
    ir: IRDetail,
    ir_of: range | None,
    events: Sequence[str],
    upstream_log: str | os.PathLike[str] | None,
) -> dict[str, str]:
    """Return the environment variables that configure the agent."""
    variables = {"ACTIONDBG_RECORD_PARENT": str(os.getpid())}
    if output is not None:
        variables["ACTIONDBG_RECORD"] = os.path.realpath(output)
        variables["ACTIONDBG_RECORD_IR"] = ir
        if ir_of is not None:
            variables["ACTIONDBG_RECORD_IR_OF"] = f"{ir_of.start}-{ir_of.stop - 1}"
        if events:
            # Imported on demand: trying the events needs ctypes.
            from actiondbg.statistics.event_probe import choose

            chosen = choose(as_texts(events))
            variables["ACTIONDBG_RECORD_EVENTS"] = ",".join(event.spec for event in chosen)
    if upstream_log is not None:
        variables["ACTIONDBG_UPSTREAM_LOG"] = str(Path(upstream_log).absolute())
    return variables


def check_ir(ir: str) -> None:
    """Raise UsageError for IR that cannot be recorded: the agent would record none."""
    if ir not in get_args(IRDetail):
        raise UsageError(
            f"There is no IR {ir!r} to record: choose among {', '.join(get_args(IRDetail))}."
        )


def encoded_rules(skip: Sequence[str]) -> str:
    """Return skip rules as JSON for the agent."""
    # Imported on demand: few recordings skip actions.
    import msgspec

    from actiondbg.breakpoints.spec import split_spec_and_condition
    from actiondbg.session.skip_rules import wire_rule

    rules = [wire_rule(*split_spec_and_condition(text)) for text in as_texts(skip)]
    return msgspec.json.encode(rules).decode()


@undisturbed
def create_recording(output: str | os.PathLike[str]) -> Path:
    """Create the empty file of the recording, so that an error precedes the start of the tool."""
    # Checked before links are resolved: /dev/stdout may lead to a pipe, which has no path.
    if os.path.exists(output) and not os.path.isfile(output):
        raise UsageError(
            f"{os.fspath(output)!r} is not a regular file, which a recording needs: name one."
        )
    path = Path(os.path.realpath(output))
    try:
        if path.exists() and not (is_recording(path) or _is_empty(path)):
            raise UsageError(
                f"{str(path)!r} is not a recording and is not overwritten: name another file."
            )
        # A new file, so that readers of the old one are not disturbed. An empty one is kept: it
        # may hold the name for this recording.
        if not (path.exists() and _is_empty(path)):
            path.unlink(missing_ok=True)
            path.touch()
    except OSError as error:
        raise LaunchError(
            f"{str(path)!r} cannot be written ({error.strerror}): name another file."
        ) from error
    return path


def _is_empty(path: Path) -> bool:
    found = path.stat()
    return stat.S_ISREG(found.st_mode) and not found.st_size


def other_recordings(path: Path) -> list[Path]:
    """Return the recordings beside that of the first process, in the order of their numbers.

    The agent names them (``claimRecording`` in actiondbg/agent/interpose/ObservedProcess.cpp).
    """
    name = re.compile(rf"{re.escape(path.stem)}\.p([1-9][0-9]*){re.escape(path.suffix)}")
    found: list[tuple[int, Path]] = []
    with contextlib.suppress(OSError):
        for each in path.parent.iterdir():
            match = name.fullmatch(each.name)
            if match is not None and is_recording(each):
                found.append((int(match[1]), each))
    return [each for _, each in sorted(found)]
