"""The text of edits of the IR."""

from __future__ import annotations

import msgspec

from actiondbg.commands.render.diff import diff_object, unified_lines
from actiondbg.commands.render.renderer import RenderContext, renders
from actiondbg.process.branches import Edited
from actiondbg.session.edits.edits import Edition
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


renders(Edition, edition_text, _edition_object)
renders(EditsShown, edits_text, lambda shown: [edited_object(one) for one in shown.edits])
