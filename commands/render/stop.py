"""The text of a stop: its place, the outcome, the changes and the culprit."""

from __future__ import annotations

import shlex

import msgspec

from actiondbg.analysis.pipeline import is_adaptor
from actiondbg.commands.render.actions import action_place_words, describe
from actiondbg.commands.render.outcomes import change_line, outcome_lines, result_words
from actiondbg.commands.render.renderer import RenderContext, renders
from actiondbg.commands.render.tables import wrapped
from actiondbg.commands.render.terminal.output import BOLD, GREEN, RED, YELLOW, emphasize
from actiondbg.commands.render.units import operation
from actiondbg.errors import ActiondbgError, NoSuchUnit
from actiondbg.process.stop import CrashCause, Stop, function_name, parse_crash
from actiondbg.protocol import Change, Culprit
from actiondbg.protocol.tags import FOLD_TAG, PASS_TAG, PATTERN_TAG
from actiondbg.support.counts import counted, plural
from actiondbg.support.source_file import SourceLines, lines_around

_PROGRAM = ".py"  # of which the IR shows less than the source
_MOST_CHANGES = 8  # shown at a stop
_FEW_CHANGES = 3  # shown beside the lines around the cursor
_RESULT_COLORS = {"succeeded": GREEN, "unchanged": YELLOW, "skipped": YELLOW, "failed": RED}
_CHANGE_COLORS = {"inserted": GREEN, "erased": RED, "replaced": RED, "modified": YELLOW}
_NEXT_SUCCESS = "  next-success (ns): continue to the next attempt that succeeds"
_MOST_NEVER_HIT = 5  # breakpoints named at the tool's end
_CURSOR_BY = {
    "replaced": ", which replaced {was}",
    "inserted": ", inserted in place of {was}",
    "around": "; {was} no longer exists",
    "failing": ", which the error is about",
}


def source_text(context: RenderContext, source: SourceLines) -> str:
    """Return the lines with their numbers; --> marks that of the location."""
    width = len(str(source.first + len(source.lines)))
    rows: list[str] = []
    for number, text in enumerate(source.lines, source.first):
        mark = "-->" if number == source.line else "   "
        row = f"{mark} {number:>{width}}  {text}".rstrip()
        rows.append(emphasize(context, row, BOLD) if number == source.line else row)
    return "\n".join([f"{source.file}:", *rows])


def program_line(location: str | None) -> list[str]:
    """Return the line of a Python program at a stop; nothing for any other file."""
    if location is None or not location.rsplit(":", 2)[0].endswith(_PROGRAM):
        return []
    try:
        found = lines_around(location, 0)
    except NoSuchUnit:
        return []  # the program may be elsewhere, or have no file
    return [f"  {found.line}: {found.lines[0].strip()}"]


class Reproduced(msgspec.Struct):
    """The reproducer of a crash with its pipeline and command, or its directory and the error."""

    path: str
    pipeline: str | None = None
    command: list[str] = []
    error: str | None = None
    is_new: bool = False


def stop_text(context: RenderContext, stop: Stop) -> str:
    if stop.when == "exit":
        lines = [stop.message or f"The tool exited with status {stop.status}."]
        lines += _never_hit_lines(context, stop)
        if context.width is not None:
            lines = [row for line in lines for row in wrapped(line, context.width)]
        return "\n".join(lines)
    excerpt: list[str] | None = None  # where a stop shows its operation only
    if context.ir_view.context:
        excerpt = context.stop_context.text(stop)
    lines = [_head(context, stop), *program_line(stop.location), *_message_lines(stop)]
    if stop.outcome is not None:
        lines += [f"  {line}" for line in outcome_lines(stop.outcome, stop.tag)]
    lines += _change_lines(context, stop, _MOST_CHANGES if excerpt is None else _FEW_CHANGES)
    if _is_caught_failure(context, stop):
        lines.append("  explain: why it failed")
    if _is_failed_attempt(stop) and context.width is not None:
        lines += context.stop_context.new_hint(_NEXT_SUCCESS)
    lines += _cursor_lines(stop)
    if context.width is not None:
        lines = [row for line in lines for row in wrapped(line, context.width)]
    if excerpt is not None:
        lines += excerpt
    elif context.settings.on("print-stop"):
        lines.append(_operation_line(context, stop))
    return "\n".join(line for line in lines if line.strip())


def _is_caught_failure(context: RenderContext, stop: Stop) -> bool:
    """Return whether a catch stopped after a pass that failed, which ``explain`` explains."""
    caught = {each.id for each in context.session.breakpoints.all() if each.kind == "catch"}
    has_failed = stop.outcome is not None and stop.outcome.result == "failed"
    return stop.tag == PASS_TAG and has_failed and not caught.isdisjoint(stop.breakpoints)


def _is_failed_attempt(stop: Stop) -> bool:
    has_failed = stop.outcome is not None and stop.outcome.result == "failed"
    return stop.tag in (PATTERN_TAG, FOLD_TAG) and has_failed and not stop.change_count


def _change_lines(context: RenderContext, stop: Stop, most: int) -> list[str]:
    """Return the first changes, those of the action's own operation before the others."""
    changes = sorted(stop.changes, key=lambda each: (each.id != stop.id, each.what == "block"))
    lines = [f"  {_colored_change(context, change, stop.ordinal)}" for change in changes[:most]]
    if (rest := stop.change_count - len(lines)) > 0:
        more = f"... and {rest} more" if lines else counted(rest, "change")
        lines.append(f"  {more}: info changes")
    return lines


def _colored_change(context: RenderContext, change: Change, ordinal: int) -> str:
    line = change_line(change, ordinal)
    color = _CHANGE_COLORS.get(change.kind)
    if color is None or not context.colored:
        return line
    return f"{emphasize(context, line[: len(change.kind)], color)}{line[len(change.kind) :]}"


# --- place ---------------------------------------------------------------------


def _head(context: RenderContext, stop: Stop) -> str:
    title = stop.title
    place = describe(stop, context.session.target.argv).removeprefix(title)
    if stop.tag == PASS_TAG and stop.pass_run is not None and not is_adaptor(stop.name):
        title = title.replace(f"({stop.name})", f"({stop.pass_run})")
    elif stop.pass_run is not None and stop.pass_run.begun > 1:
        place = f" in {stop.pass_run}{place}"
    action = f"{emphasize(context, title, BOLD)}{place}{_origin_of(stop)}"
    if stop.when == "during":
        place = f"inside {action}" if stop.ordinal else _outside(context, stop)
        return f"{_reason(context, stop)} {place}"
    head = f"{_reason(context, stop)} {stop.when} {action}"
    if stop.outcome is not None:
        words = result_words(stop.outcome, stop.change_count)
        return f"{head}: {emphasize(context, words, _RESULT_COLORS[stop.outcome.result])}"
    verb = "is" if stop.when == "before" else "was"
    return head + (f", which {verb} skipped" if stop.skipped else "")


def _outside(context: RenderContext, stop: Stop) -> str:
    """Return the place of a stop outside of any action: the operation, and the last action."""
    place = "outside of any action" + action_place_words(stop, context.session.target.argv)
    if stop.culprit is not None and stop.culprit.ordinal:
        # Behind the place, which is not that of the last action.
        place += f", after {culprit_words(stop.culprit)}"
    return place


def _origin_of(stop: Stop) -> str:
    """Return the process, MLIR, context and thread of a stop, where there are several."""
    parts = [
        name
        for name, count in (
            (stop.process, stop.processes),
            (stop.mlir, 2),  # None where there is one
            (stop.context, stop.contexts),
            (stop.thread, stop.threads),
        )
        if name and count > 1
    ]
    return f" [{', '.join(parts)}]" if parts else ""


def _never_hit_lines(context: RenderContext, stop: Stop) -> list[str]:
    """Return which breakpoints were never hit, and why; a line each if there are several."""
    never = [each for each in context.session.breakpoints.all() if each.id in stop.never_hit]
    lines = [f"breakpoint {each.id} ({each.words}): {each.why_never_hit}." for each in never]
    if len(lines) < 2:
        return [f"Never hit: {line}" for line in lines]
    more = len(lines) - _MOST_NEVER_HIT
    listed = [*lines[:_MOST_NEVER_HIT], *([f"and {more} more"] if more > 0 else [])]
    return ["Never hit:", *(f"  {line}" for line in listed)]


def _reason(context: RenderContext, stop: Stop) -> str:
    if stop.reason == "interrupt":
        return "Interrupted, stopped"
    if stop.reason == "verify":
        return "The IR does not verify, stopped"
    if stop.reason == "crash":
        return "Crash, stopped"
    if not stop.breakpoints:
        return "Stopped"
    hit: dict[str, list[str]] = {}
    for number in stop.breakpoints:
        hit.setdefault(context.session.breakpoints.kind_of(number), []).append(str(number))
    words = (_numbered(kind, numbers) for kind, numbers in hit.items())
    return f"{', '.join(words).capitalize()}, stopped"


def _numbered(kind: str, numbers: list[str]) -> str:
    return f"{plural(kind, len(numbers))} {', '.join(numbers)}"


def _message_lines(stop: Stop) -> list[str]:
    """Return the messages of watches, catches and crashes, with the culprit if it is another
    action.
    """
    message = stop.message or ""
    if stop.when == "during" and (cause := parse_crash(message)) is not None:
        message = "\n".join(_crash_lines(cause))
    if stop.reason == "watch":  # messages of several watches are joined
        message = message.replace("; ", "\n")
    lines = [line for line in dict.fromkeys(message.splitlines()) if line]
    is_in_head = stop.when == "during" and not stop.ordinal
    if stop.culprit is None or is_in_head:
        return [f"  {line}" for line in lines]
    if stop.culprit.ordinal != stop.ordinal or stop.culprit.guess:
        by = f"by {culprit_words(stop.culprit)}"
        lines = [f"{lines[0]}, {by}"] if len(lines) == 1 else [*lines, by]
    return [f"  {line}" for line in lines]


def _crash_lines(crash: CrashCause) -> list[str]:
    lines = [f"{crash.signal}: {crash.what}" if crash.what else crash.signal]
    lines += [f"at {crash.place}"] if crash.place else []
    lines += [f"in {function_name(crash.function)}"] if crash.function else []
    return lines


def culprit_words(culprit: Culprit) -> str:
    """Return a culprit, such as ``#17 apply-pattern (X)``."""
    words = f"#{culprit.ordinal} {culprit.tag} ({culprit.name or 'nameless'})"
    if not culprit.ordinal:
        words = culprit.name or "no action"
    return words + (" (a guess)" if culprit.guess else "")


# --- the cursor -------------------------------------------------------------


def _cursor_lines(stop: Stop) -> list[str]:
    """Return a line on where the cursor is, if that is not the operation of the action."""
    was, cursor = f"@{stop.id}", stop.cursor
    if cursor is None:
        return [f"{was} was erased."] if stop.when == "after" and stop.id is not None else []
    if cursor.by == "action" or (cursor.by != "failing" and stop.id is None):
        return []
    tail = _CURSOR_BY[cursor.by].format(was=was)
    by = [value for change in stop.changes if change.id == stop.id for value in change.by or []]
    if any(value.id == cursor.id and value.op == "block argument" for value in by):
        tail = f", whose block argument replaced {was}"
    what = operation(cursor.id, cursor.op)
    unit = what if cursor.kind == "operation" else f"a {cursor.kind} of {what}"
    return [f"The cursor is on {unit}{tail}."]


def _operation_line(context: RenderContext, stop: Stop) -> str:
    """Return the operation of the cursor as one line, without its regions."""
    try:
        excerpt = context.ir_view.excerpt(before=0, after=0)
        line = excerpt.lines[excerpt.current]
        text = line.text
        if stop.cursor is not None and line.id not in (stop.cursor.id, None):
            text = context.session.cursor.get().unit.text or ""  # its parent's form leaves it out
    except ActiondbgError as error:  # such as an erased operation
        return f"  {stop.op or 'operation'}: {error}"
    first, newline, _ = text.partition("\n")
    if first.endswith("{"):
        first += "...}"
    return "  " + context.ir_view.shown(first) + (" ..." if newline else "")


# --- reproducers ----------------------------------------------------------------


def reproduced_text(_: RenderContext, made: Reproduced) -> str:
    if made.error is not None:
        return f"No reproducer was written to {made.path}: {made.error}"
    how = "A reproducer was written to" if made.is_new else "The reproducer of this crash is in"
    if not made.command:
        return f"{how} {made.path}. An opt tool with its dialects runs it, by --run-reproducer."
    return f"{how} {made.path}. To run it:\n  {shlex.join(made.command)}"


renders(SourceLines, source_text, fits=True)
renders(Stop, stop_text, Stop.as_json, fits=True)
renders(Reproduced, reproduced_text)
