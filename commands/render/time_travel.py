"""The text of edits, checkpoints and timelines, and of runs of native debuggers."""

from __future__ import annotations

import msgspec

from actiondbg.commands.render.actions import describe
from actiondbg.commands.render.ir import diff_object
from actiondbg.commands.render.ir_text.diff_text import unified_lines
from actiondbg.commands.render.renderer import RenderContext, renders
from actiondbg.process.branches import Branch, Edited, Skipped, Timeline
from actiondbg.process.checkpoints import Automatic, Checkpoint
from actiondbg.session.edits.edits import Edition
from actiondbg.session.inspection.native_debugger import NativeRun
from actiondbg.session.skip_rules import SkipRule
from actiondbg.support.counts import counted

_CONTEXT = 3  # unchanged lines around a change


class EditsShown(msgspec.Struct):
    edits: list[Edited]


def edition_text(context: RenderContext, edition: Edition) -> str:
    edited = edition.edited
    where = f"{edited.when} #{edited.ordinal} {edited.name}"
    end = f"Branch {edition.branch} begins with this edit of {edited.target} {where}."
    return "\n".join([*unified_lines(context.ir_view, edition.diff, _CONTEXT), end])


def edits_text(_: RenderContext, shown: EditsShown) -> str:
    if not shown.edits:
        return "There are no edits on this timeline."
    return "\n".join(f"{number}: {_edit(one)}" for number, one in enumerate(shown.edits, 1))


def _edit(edited: Edited) -> str:
    added = counted(sum(line.startswith("+") for line in edited.patch), "line")
    removed = sum(line.startswith("-") for line in edited.patch)
    what = f"{added} added, {removed} removed"
    if edited.edit.pipeline:
        what = f"passes {edited.edit.pipeline}"
    name = edited.name or "nameless"
    where = f" in @{edited.function}" if edited.function else ""
    place = f"{edited.when} #{edited.ordinal} {edited.tag} ({name}){where} on {edited.target}"
    return f"{place}{_saved(edited)}: {what}"


def located_text(edited: Edited) -> str:
    """Return a sentence about the place in this run of an edit that was loaded from a file."""
    where = f" in @{edited.function}" if edited.function else ""
    place = f"{edited.when} #{edited.ordinal} {edited.name}{where}{_saved(edited)}"
    target = "the module" if edited.target == "module" else edited.target
    return f"The loaded edit of {target} applies {place}."


def _saved(edited: Edited) -> str:
    """Return the saved ordinal where it is another one."""
    moved = edited.saved is not None and edited.saved != edited.ordinal
    return f" (saved as #{edited.saved})" if moved else ""


def edited_object(edited: Edited) -> dict[str, object]:
    """Return an edit for JSON, without the file of the session's."""
    return {
        "ordinal": edited.ordinal,
        "when": edited.when,
        "tag": edited.tag,
        "name": edited.name,
        "saved": edited.saved,
        "event": edited.edit.event,
        "target": edited.target,
        "pipeline": edited.edit.pipeline,
        "patch": edited.patch,
    }


def _edition_object(edition: Edition) -> object:
    diff = diff_object(edition.diff, _CONTEXT)
    return {"edit": edited_object(edition.edited), "branch": edition.branch, "diff": diff}


_MOST_SKIPS = 5  # shown of a branch


class CheckpointsShown(msgspec.Struct):
    """The user's checkpoints, and statistics of the automatic ones."""

    checkpoints: list[Checkpoint]
    automatic: Automatic


class SkipRulesShown(msgspec.Struct):
    rules: list[SkipRule]


def rules_text(_: RenderContext, shown: SkipRulesShown) -> str:
    if not shown.rules:
        return "There are no skip rules."
    return "\n".join(f"{rule.id}: {rule.text}" for rule in shown.rules)


def checkpoints_text(_: RenderContext, shown: CheckpointsShown) -> str:
    branches = {one.branch for one in shown.checkpoints}
    lines = [
        f"{one.number}: {_place(one)}" + (f", branch {one.branch}" if branches != {1} else "")
        for one in shown.checkpoints
    ]
    automatic = shown.automatic
    if automatic.count:
        lines.append(
            f"Automatic checkpoints: {automatic.count} ({automatic.bytes / (1 << 20):.0f} MB)."
        )
    return "\n".join(lines or ["There are no checkpoints."])


def _place(made: Checkpoint) -> str:
    if made.when == "during":
        return f"inside {describe(made)}" if made.ordinal else "outside of any action"
    return f"{made.when} {describe(made)}"


def timeline_text(_: RenderContext, timeline: Timeline) -> str:
    lines = [
        f"{'*' if one.number == timeline.current else ' '} {_branch(one)}"
        for one in timeline.branches
    ]
    return "\n".join([*lines, _here(timeline)])


def _branch(branch: Branch) -> str:
    reached = f"{'ended after' if branch.ended else 'reached'} #{branch.actions}"
    if branch.parent is not None:
        reached = f"leaves branch {branch.parent} at #{branch.ordinal}, {reached}"
    skips = f"; skips {_skips(branch.skips)}" if branch.skips else ""
    edits = ", ".join(f"{one.target} {one.when} #{one.ordinal}" for one in branch.edits)
    edits = f"; edits {edits}" if edits else ""
    return f"branch {branch.number}: {reached}{skips}{edits}"


def _skips(skips: list[Skipped]) -> str:
    shown = [f"#{one.ordinal} {one.tag} ({one.name or 'nameless'})" for one in skips]
    more = len(shown) - _MOST_SKIPS
    return ", ".join(shown[:_MOST_SKIPS]) + (f" and {more} more" if more > 0 else "")


def _here(timeline: Timeline) -> str:
    if timeline.when is None:
        return "The tool is running."
    if timeline.when == "exit":
        return "The tool has ended."
    where = "inside" if timeline.when == "during" else timeline.when
    return f"The tool is {where} #{timeline.ordinal}, at event {timeline.event}."


def _timeline_object(timeline: Timeline) -> object:
    found = msgspec.to_builtins(timeline)
    for branch in found["branches"]:
        del branch["spans"], branch["created"]  # for the agent, and for names
        for edited in branch["edits"]:
            del edited["edit"]["path"]
    return found


def start_text(run: NativeRun) -> str:
    """Return the text before a debugger gets the terminal."""
    places = [f"{one.name or 'no symbol'} at {one.place}" for one in run.functions]
    lines = [
        f"Attaching {run.debugger} to process {run.pid}, a fork of the tool.",
        *(f"  breakpoint in {place}" for place in places),
    ]
    return "\n".join(lines) + "\n"


def _native_text(_: RenderContext, run: NativeRun) -> str:
    if run.output is not None:
        return run.output
    return f"{run.debugger} and its fork have ended; the tool is still at its stop."


RENDERERS = (
    renders(Edition, edition_text, _edition_object),
    renders(EditsShown, edits_text, lambda shown: [edited_object(one) for one in shown.edits]),
    renders(Checkpoint, lambda _, made: f"Checkpoint {made.number}, {_place(made)}"),
    renders(CheckpointsShown, checkpoints_text),
    renders(Timeline, timeline_text, _timeline_object),
    renders(SkipRule, lambda _, rule: f"Skip rule {rule.id}: {rule.text}"),
    renders(SkipRulesShown, rules_text),
    renders(NativeRun, _native_text),
)
