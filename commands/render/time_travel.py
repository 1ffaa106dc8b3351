"""The text of checkpoints, timelines and skip rules."""

from __future__ import annotations

import msgspec

from actiondbg.commands.render.actions import describe
from actiondbg.commands.render.renderer import RenderContext, renders
from actiondbg.process.branches import Branch, Skipped, Timeline
from actiondbg.process.checkpoints import Automatic, Checkpoint
from actiondbg.session.skip_rules import SkipRule

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


RENDERERS = (
    renders(Checkpoint, lambda _, made: f"Checkpoint {made.number}, {_place(made)}"),
    renders(CheckpointsShown, checkpoints_text),
    renders(Timeline, timeline_text, _timeline_object),
    renders(SkipRule, lambda _, rule: f"Skip rule {rule.id}: {rule.text}"),
    renders(SkipRulesShown, rules_text),
)
