"""Commands that track operations: what they became, and what they came from."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from actiondbg.commands.interpreter import completers
from actiondbg.commands.interpreter.declaration import Topic
from actiondbg.commands.interpreter.options import Options, flag, option, positional
from actiondbg.commands.render.lineage.tracking import PictureWritten
from actiondbg.commands.shell.ir import place_of
from actiondbg.commands.shell.past import PAST
from actiondbg.errors import UsageError
from actiondbg.lineage.level import Level

if TYPE_CHECKING:
    from actiondbg.commands.interpreter.console import Console
    from actiondbg.lineage.answer import Direction, TrackAnswer
    from actiondbg.lineage.live import SessionLineage
    from actiondbg.lineage.stage import Operation, Stage
    from actiondbg.session.debug_session import End

LINEAGE = Topic(PAST.category)


class LineageOptions(Options):
    target: str = positional(
        "cursor|@ID|%SSA|@SYMBOL|[FILE:]LINE",
        default="cursor",
        help="the operation",
        complete=completers.places,
    )
    exact: bool = flag(help="leave out what only source locations show")
    nested: bool = flag(help="track the operations inside a function, too")
    level: Level = option(
        default="operation", help="the units that answer for the operations in them"
    )


class TrackOptions(LineageOptions):
    to: str = option(
        "#N|PASS|end",
        default="end",
        help="track up to the end of this action, of the next run of this pass, or of the run "
        "(the default)",
        complete=completers.passes,
    )


@LINEAGE.command("track", example="track @12 --to cse", reads=True)
def track(console: Console, options: TrackOptions) -> TrackAnswer:
    """List the operations that an operation became, and the actions on the way."""
    found = _open(console, options.target, options.to)
    return _answer(console, found, options, found.here, found.last, "forward")


@LINEAGE.command("track-back", example="track-back %3", reads=True)
def track_back(console: Console, options: LineageOptions) -> TrackAnswer:
    """List the operations of the input from which an operation was made, and the actions on the
    way.
    """
    found = _open(console, options.target, None)
    return _answer(console, found, options, found.last, found.first, "back")


@LINEAGE.command("related", example="related cursor", reads=True)
def related(console: Console, options: LineageOptions) -> TrackAnswer:
    """List the operations at this stop that have an origin in common with an operation."""
    found = _open(console, options.target, None)
    return _answer(console, found, options, found.last, found.last, "related")


class PictureOptions(TrackOptions):
    dot: Path | None = option("FILE", help="write a graph for graphviz")
    svg: Path | None = option("FILE", help="write a picture")
    html: Path | None = option("FILE", help="write a page with the picture")


@LINEAGE.command("lineage", example="lineage @12 --svg lineage.svg")
def lineage(console: Console, options: PictureOptions) -> PictureWritten:
    """Draw what an operation came from and became: from the input to the end of the run."""
    from actiondbg.lineage.pictures.graph import picture, picture_dot, picture_page, picture_svg
    from actiondbg.lineage.units import rolled_up
    from actiondbg.support.atomic_write import write_whole

    formats = (
        (options.dot, picture_dot),
        (options.svg, picture_svg),
        (options.html, picture_page),
    )
    if not any(path for path, _ in formats):
        raise UsageError("The file is missing: give --svg FILE, --html FILE or --dot FILE.")
    found = _open(console, options.target, options.to)
    sources = found.operations(place_of(console, options.target), found.here)
    nested = options.nested or None
    back = found.lineage.track(sources, found.first, exact=options.exact, nested=nested)
    onward = found.lineage.track(sources, found.last, exact=options.exact, nested=nested)
    onward = rolled_up(onward, options.level)
    both = onward._replace(traces=(*back.traces, *onward.traces))
    drawn = picture(found.lineage, sources, both)
    written: list[str] = []
    for path, write in formats:
        if path is not None:
            write_whole(path, write(drawn).encode())
            written.append(str(path))
    return PictureWritten(written, len(drawn.boxes), drawn.note)


def _open(console: Console, target: str, to: str | None) -> SessionLineage:
    """Return the lineage of the run up to what ``--to`` names; None is this stop.

    The target is checked first: a replay may take long.
    """
    from actiondbg.lineage.live import SessionLineage, check_target

    check_target(console.session, place_of(console, target))
    end = "now" if to is None else _end(console, to)
    with console.progress.shown():
        return SessionLineage(console.session, end)


def _answer(
    console: Console,
    found: SessionLineage,
    options: LineageOptions,
    source: Stage,
    to: Stage,
    direction: Direction,
) -> TrackAnswer:
    from actiondbg.lineage import answer
    from actiondbg.lineage.lineage import related
    from actiondbg.lineage.units import rolled_up

    operations: list[Operation] = found.operations(place_of(console, options.target), source)
    if direction == "related":
        tracking = related(found.lineage, operations, exact=options.exact)
    else:
        nested = options.nested or None
        tracking = found.lineage.track(operations, to, exact=options.exact, nested=nested)
    tracking = rolled_up(tracking, options.level)
    return found.named(answer.answer(found.lineage, operations, to, tracking, direction))


def _end(console: Console, to: str) -> End:
    """Return the end that ``--to`` names; of a pass, the run that ends next."""
    if to == "end":
        return "end"
    digits = to.removeprefix("#")
    if digits.isdecimal():
        return int(digits)
    from actiondbg.analysis.pipeline import find_pass

    runs = console.session.past.passes()
    if "#" not in to:
        runs = [run for run in runs if run.state != "over"]
    return find_pass(runs, to)
