"""The subcommands of 'info', on the stop, the program and the outcomes of actions; settings."""

from __future__ import annotations

import contextlib
import datetime
import shlex
from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal, get_args

import msgspec

from actiondbg.analysis.pipeline import pipeline_of
from actiondbg.breakpoints.spec import split_spec_and_condition
from actiondbg.commands.interpreter import completers, values
from actiondbg.commands.interpreter.declaration import Topic
from actiondbg.commands.interpreter.options import (
    NoOptions,
    Options,
    flag,
    option,
    positional,
    rest,
)
from actiondbg.commands.interpreter.settings import SETTINGS
from actiondbg.commands.interpreter.words import split_stdio
from actiondbg.commands.render.actions import ActionsShown, PipelineShown
from actiondbg.commands.render.outcomes import ChangesShown, OutcomeShown
from actiondbg.commands.render.past import CycleShown
from actiondbg.commands.render.renderer import RenderContext, renders
from actiondbg.commands.render.status import (
    ContextsShown,
    Displays,
    Fact,
    Facts,
    ProcessesShown,
    SettingsShown,
    Text,
    ThreadsShown,
)
from actiondbg.commands.render.units import CursorPlace
from actiondbg.commands.shell.breakpoints import Breakpoints, list_breakpoints
from actiondbg.errors import NoAnswer, ToolGone, UsageError
from actiondbg.process.stop import not_ended
from actiondbg.protocol import Statistic
from actiondbg.support.counts import counted
from actiondbg.support.globs import check_glob, glob_matches
from actiondbg.version import VERSION

if TYPE_CHECKING:
    from actiondbg.analysis.actions import ListedAction
    from actiondbg.commands.interpreter.console import Console
    from actiondbg.protocol import Action
    from actiondbg.recording.recording import Recording
    from actiondbg.session.session import Session

STATUS = Topic("Status and settings", contained=True)


STATUS.group(
    "info",
    "Show information about the stop, the actions so far, the program or the tool.",
    example="info action",
    aliases=("i",),
)


@STATUS.command("info action", reads=True)
def info_action(console: Console, _: NoOptions) -> Action:
    """Show the selected action in full."""
    return console.session.stack.action()


@STATUS.command("info frame", reads=True)
def info_frame(console: Console, _: NoOptions) -> Action:
    """Show the selected frame, which is that of an action, in full; like 'info action'."""
    return console.session.stack.action()


@STATUS.command("info breakpoints", reads=True)
def info_breakpoints(console: Console, _: NoOptions) -> Breakpoints:
    """List breakpoints, watches and catches."""
    return list_breakpoints(console)


@STATUS.command("info cursor", reads=True)
def info_cursor(console: Console, _: NoOptions) -> CursorPlace:
    """Show the cursor: its unit, its function and its path."""
    return CursorPlace(console.session.cursor.get())


@STATUS.command(
    "info processes",
    needs_tool="A list of the program's processes",
    reads=True,
)
def info_processes(console: Console, _: NoOptions) -> ProcessesShown:
    """List the processes of the program that were debugged."""
    return ProcessesShown(console.live_session().processes)


@STATUS.command("info contexts", reads=True)
def info_contexts(console: Console, _: NoOptions) -> ContextsShown:
    """List the MLIR contexts of the program, with their threads and actions."""
    return ContextsShown(console.session.contexts)


@STATUS.command(
    "info threads",
    needs_tool="A list of the program's threads",
    reads=True,
)
def info_threads(console: Console, _: NoOptions) -> ThreadsShown:
    """List the threads that ran actions."""
    return ThreadsShown(console.live_session().threads)


@STATUS.command("info displays", reads=True)
def info_displays(console: Console, _: NoOptions) -> Displays:
    """List the displays."""
    return Displays(console.displays.all())


@STATUS.command("info program", reads=True)
def info_program(console: Console, _: NoOptions) -> Facts:
    """Show the command line, the state, the processes and the exit status of the program."""
    session = console.session
    with contextlib.suppress(ToolGone):  # it was killed meanwhile, and is "exited" now
        if session.state == "stopped":
            session.status()
    facts: dict[str, Fact] = {
        "command": shlex.join(session.target.argv) or None,
        "state": session.state,
        "status": session.exit_status,
    }
    if console.recorded is not None:
        facts.update(_recording_facts(console.recorded.recording))
    else:
        facts.update(_process_facts(console.live_session()))
    return Facts("program", facts)


def _recording_facts(recording: Recording) -> dict[str, Fact]:
    """Return the facts of a recorded run."""
    header = recording.header
    if header.imported:
        facts = {"recording": recording.path, "imported": header.imported}
        return {**facts, "actions": recording.count, "llvm": None}
    started = datetime.datetime.fromtimestamp(header.started // 10**9).astimezone()
    return {
        "recording": recording.path,
        "actions": recording.count,
        "directory": header.cwd,
        "started": started.isoformat(" "),
        "llvm": header.llvm,
        "threading": header.threads,
        "ir": header.ir,
        "counters": ", ".join(header.events) or None,
        "cut": recording.cut,
    }


def _process_facts(session: Session) -> dict[str, Fact]:
    """Return the facts about the tool's processes, and at a stop about the run."""
    process = session.target.process()
    facts: dict[str, Fact] = {}
    if (way_on := session.way_on) is not None:
        facts["program"] = f"runs on: {way_on}"
    if process is not None:
        facts.update(pid=process.pid, halted=process.halted, threads=process.threads)
    if session.state == "stopped":
        status = msgspec.to_builtins(session.status())
        wanted = status.pop("threading")
        facts["threading"] = "off, on without the debugger" if wanted else "off"
        # The first two are bookkeeping of time travel, of no use to the user.
        hidden = ["written", "passed", "threads"]
        if not status["unfollowed"]:
            hidden.append("unfollowed")
        facts.update((key, status[key]) for key in status if key not in hidden)
    forks = session.target.forks()
    facts["forks"] = ", ".join(map(str, forks)) or None
    return facts


@STATUS.command("info tool", needs_tool="Information about the tool", reads=True)
def info_tool(console: Console, _: NoOptions) -> Facts:
    """Show the tool, its MLIR, the agent, and in a run what the agent can do in it."""
    from actiondbg.protocol.capabilities import CAPABILITIES, missing_reason
    from actiondbg.tool.identification import build_id_of
    from actiondbg.tool.shipped import shipped_agent

    target = console.live_session().target
    tool, hello, loaded = target.tool, target.hello, target.loaded_mlir
    facts: dict[str, Fact] = {
        "path": str(tool.path),
        "llvm": target.llvm() or "unknown",
        "libmlir": None if tool.libmlir is None else str(tool.libmlir),
        "build": tool.build_id,
        "agent": str(shipped_agent()),
    }
    if loaded is not None:
        facts["libmlir"], facts["build"] = str(loaded), build_id_of(loaded)
    if hello is not None:
        has = [name for name in CAPABILITIES if name in hello.capabilities]
        facts["capabilities"] = ", ".join(has)
        for name in CAPABILITIES:
            if name not in hello.capabilities:
                facts[f"no {name}"] = missing_reason(hello, name)
    return Facts("tool", facts)


class SetOptions(Options):
    name: str = positional(
        "SETTING", help="a setting, or a unique prefix", complete=completers.settings
    )
    value: str = positional("VALUE", help="the new value", complete=completers.setting_values)


@STATUS.command("set", example="set style monokai", contained=False)
def set_(console: Console, options: SetOptions) -> None:
    """Change a setting; 'show' lists them."""
    name = console.settings.set(options.name, options.value)
    if SETTINGS[name].is_late and console.session.state != "not-running":
        console.note(f"{name} applies from the next run on.")


class ShowOptions(Options):
    name: str | None = positional(
        "SETTING", help="a setting, or a unique prefix", complete=completers.settings
    )


@STATUS.command("show", example="show style", reads=True)
def show(console: Console, options: ShowOptions) -> SettingsShown:
    """Show one setting, or all."""
    return SettingsShown(console.settings.show(options.name))


class ArgumentsOptions(Options):
    text: str = rest("[ARGS]", complete=completers.tool_arguments)


@STATUS.command(
    "set args",
    example="set args in.mlir --cse",
    needs_tool="Changing the arguments of the tool",
    contained=False,
    abbreviates=False,
)
def set_args(console: Console, options: ArgumentsOptions) -> None:
    """Set the arguments of the tool for the next run; without ARGS, none."""
    stdio = split_stdio(options.text)
    if stdio.stdin or stdio.stdout or stdio.stderr:
        raise UsageError("A redirection applies to one run: give it to 'run'.")
    console.live_session().target.argv[1:] = stdio.arguments or []


@STATUS.command("show args", abbreviates=False, reads=True)
def show_args(console: Console, _: NoOptions) -> Text:
    """Show the arguments of the tool."""
    return Text(shlex.join(console.session.target.argv[1:]) or "There are no arguments.")


@STATUS.command("show version", abbreviates=False, reads=True)
def show_version(console: Console, _: NoOptions) -> Facts:
    """Show the version of actiondbg, and of the tool's LLVM."""
    facts: dict[str, Fact] = {"actiondbg": VERSION}
    if console.recorded is not None:
        header = console.recorded.recording.header
        facts["llvm"] = None if header.imported else header.llvm
    else:
        facts["llvm"] = console.live_session().target.llvm()
    return Facts("version", facts)


Sort = Literal["attempts", "succeeded", "failed", "unchanged", "changes", "time", "name"]


@STATUS.command("info outcome", reads=True)
def outcome(console: Console, _: NoOptions) -> OutcomeShown:
    """Show the outcome of the action of this stop, with the reasons."""
    console.need_stop()
    stop = console.session.stop
    if stop is not None and stop.is_crash and stop.ordinal:
        raise not_ended(stop.ordinal, stop)
    if stop is None or stop.outcome is None:
        raise UsageError("The action has no outcome yet: 'next' runs it to its end.")
    return OutcomeShown(stop, stop.outcome)


class ChangesOptions(Options):
    own: bool = flag(help="leave out the changes of nested actions")
    count: int = option(
        "N", default=100, help="list at most N; 100 by default", parse=values.positive
    )


@STATUS.command("info changes", example="info changes --own", reads=True)
def changes(console: Console, options: ChangesOptions) -> ChangesShown:
    """List the changes of the selected action so far, oldest first."""
    session, nested = console.session, not options.own
    found = session.outcome.changes(nested=nested, limit=options.count)
    if found.forgotten:  # a recording has them all
        with contextlib.suppress(NoAnswer), console.progress.shown():
            past = console.live_session("A replay").past
            found = past.changes(session.stack.selected, nested, options.count)
    return ChangesShown(session.stack.action().ordinal, found, options.own)


class NamesOptions(Options):
    sort: Sort = option(
        "COLUMN",
        default="attempts",
        help=f"sort by {', '.join(get_args(Sort))}; by default attempts",
        prefix=True,
    )
    glob: str | None = None


class PatternsOptions(NamesOptions):
    glob: str | None = positional(
        "GLOB", help="only patterns of this name", complete=completers.patterns
    )


@STATUS.command("info patterns", example="info patterns --sort time Fold*", reads=True)
def patterns(console: Console, options: PatternsOptions) -> StatisticsShown:
    """List the attempts of each pattern by outcome, with changes and time."""
    return _statistics(console, "pattern", options)


class PassesOptions(NamesOptions):
    glob: str | None = positional(
        "GLOB", help="only passes of this name", complete=completers.passes
    )


@STATUS.command("info passes", example="info passes --sort time", reads=True)
def passes(console: Console, options: PassesOptions) -> StatisticsShown:
    """List the runs of each pass by outcome, with changes and time."""
    return _statistics(console, "pass", options)


class FoldsOptions(NamesOptions):
    glob: str | None = positional(
        "GLOB", help="only operations of this name", complete=completers.operations
    )


@STATUS.command("info folds", example="info folds arith.*", reads=True)
def folds(console: Console, options: FoldsOptions) -> StatisticsShown:
    """List the folds of each operation by outcome, with changes and time."""
    return _statistics(console, "fold", options)


class ActionsOptions(Options):
    text: str = rest("[SPEC [if EXPR]]", complete=completers.spec)
    changed: bool = flag(help="only actions that changed the IR")
    first: int | None = option(
        "--from",
        "#N",
        help="begin with this ordinal; by default the stop is in the middle",
        parse=values.ordinal,
    )
    count: int = option(
        "N", default=20, help="list at most N; 20 by default", parse=values.positive
    )


@STATUS.command(
    "info actions", example="info actions pattern:Fold* --changed", redirects=True, reads=True
)
def actions(console: Console, options: ActionsOptions) -> ActionsShown:
    """List actions of the run, before and after the stop, with their outcomes."""
    spec, condition = split_spec_and_condition(options.text) if options.text else (None, None)
    with console.progress.shown():
        found = console.session.past.actions(
            spec, condition, changed=options.changed, first=options.first, count=options.count
        )
    selection = f"{' --changed' if options.changed else ''} {options.text}".rstrip()
    return ActionsShown(found, _ordinal_of_stop(console), selection)


@STATUS.command("info pipeline", reads=True)
def pipeline(console: Console, _: NoOptions) -> PipelineShown:
    """List the passes of the run in order, nested; those after the stop too. 'goto' takes their
    ordinals, and names such as canonicalize#2. '!' marks a pass that failed or crashed.
    """
    with console.progress.shown():
        runs = console.session.past.passes()
        found = pipeline_of(runs)
    return PipelineShown(found, _ordinal_of_stop(console), _crashed_pass(console, runs))


def _crashed_pass(console: Console, runs: Iterable[ListedAction]) -> int | None:
    """Return the ordinal of the innermost pass in which the tool crashed."""
    stop = console.session.stop
    if stop is None or not (stop.ordinal and (stop.is_crash or stop.reason == "crashed")):
        return None
    around = [run.ordinal for run in runs if run.outcome is None and run.ordinal <= stop.ordinal]
    return max(around, default=None)


def _ordinal_of_stop(console: Console) -> int | None:
    stop = console.session.stop
    return None if stop is None or stop.when == "exit" else stop.ordinal or None


@STATUS.command("info cycles", reads=True)
def cycles(console: Console, _: NoOptions) -> CycleShown:
    """Find actions that undo each other repeatedly; show one round as diffs."""
    with console.progress.shown():
        return CycleShown(console.session.past.cycles())


def _statistics(
    console: Console, kind: Literal["pattern", "pass", "fold"], options: NamesOptions
) -> StatisticsShown:
    glob = options.glob
    if glob is not None:
        check_glob(glob, glob, 0)
    with console.progress.shown():
        found = console.session.past.statistics(kind)
    rows = [row for row in found if glob is None or glob_matches(glob, row.name)]
    rows.sort(key=lambda row: _sort_key(row, options.sort))
    return StatisticsShown(kind, options.glob, rows)


def _sort_key(row: Statistic, column: Sort) -> tuple[float, str]:
    """Return the sort key of a row: the column in descending order, then the name."""
    if column == "name":
        return 0, row.name
    return -(getattr(row, "seconds" if column == "time" else column) or 0), row.name


# --- the tables of info patterns, info passes and info folds ---


_TOTALS = Statistic.__struct_fields__[2:]  # all but tag and name
_COLUMNS = _TOTALS[:-1]  # the time is shown behind them
_RARE = ("unchanged", "skipped")  # columns that are left out if they count nothing


class StatisticsShown(msgspec.Struct):
    """The outcomes of patterns, passes or folds by name.

    Attributes:
        kind: "pattern", "pass" or "fold".
        glob: the selected names; None for all.
    """

    kind: str
    glob: str | None
    rows: list[Statistic]

    @property
    def total(self) -> Statistic:
        sums = {column: sum(getattr(row, column) for row in self.rows) for column in _COLUMNS}
        times = [row.seconds for row in self.rows if row.seconds is not None]
        seconds = sum(times) if times or not self.rows else None
        return Statistic(tag=self.kind, name="total", seconds=seconds, **sums)


def statistics_text(_: RenderContext, shown: StatisticsShown) -> str:
    if not shown.rows:
        named = f" named {shown.glob}" if shown.glob else ""
        return f"No {shown.kind}{named} has ended so far."
    total = shown.total
    columns = [each for each in _COLUMNS if getattr(total, each) or each not in _RARE]
    cells = [
        [*columns, "time", "name"],
        *(_statistic_cells(row, columns, row.name or "(nameless)") for row in shown.rows),
        _statistic_cells(total, columns, f"total of {counted(len(shown.rows), 'name')}"),
    ]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return "\n".join(
        " ".join(f"{cell:>{width}}" for cell, width in zip(row[:-1], widths, strict=False))
        + f"  {row[-1]}"
        for row in cells
    )


def _statistic_cells(row: Statistic, columns: Iterable[str], name: str) -> list[str]:
    counts = [str(getattr(row, column)) for column in columns]
    time = "-" if row.seconds is None else f"{row.seconds * 1000:.3f} ms"
    return [*counts, time, name]


def _statistics_object(shown: StatisticsShown) -> object:
    total = msgspec.to_builtins(shown.total)
    return {
        "rows": msgspec.to_builtins(shown.rows),
        "total": {key: total[key] for key in _TOTALS},
    }


renders(StatisticsShown, statistics_text, _statistics_object)
