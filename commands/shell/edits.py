"""Commands that edit the IR at a stop, and repeat edits in other runs."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from actiondbg.commands.interpreter import completers
from actiondbg.commands.interpreter.declaration import Topic
from actiondbg.commands.interpreter.options import (
    NoOptions,
    Options,
    flag,
    option,
    positional,
    rest,
)
from actiondbg.commands.render.edits import EditsShown, located_text
from actiondbg.commands.render.plain_text import Text
from actiondbg.errors import EditRefused, UsageError
from actiondbg.support.counts import counted
from actiondbg.support.executables import which
from actiondbg.support.scratch_directory import scratch_directory

if TYPE_CHECKING:
    from actiondbg.commands.interpreter.console import Console
    from actiondbg.process.stop import Stop
    from actiondbg.session.edits.edits import EditableText, Edition, Edits, What

_USUAL = ("sensible-editor", "nano", "vim", "vi")
EDITS = Topic("What if")
_EDITS = "Editing IR"
_HEADING = 2  # comment lines above the text in the editor
_LINE = re.compile(r"\b([Ll])ine (\d+)\b")


def edit_text(console: Console, text: str) -> str:
    """Open a text in the user's editor; return it as it was saved.

    Raises:
        UsageError: there is no editor, or it fails.
    """
    console.permissions.check("shell", "An editor")
    command = _editor(console)
    console.out.flush()
    console.terminal_written = True
    with scratch_directory("edit") as directory:
        file = directory / "edit.mlir"  # editors recognize the language by the suffix
        file.write_text(text, encoding="utf-8")
        # The output of actiondbg may be JSON.
        stdout = console.err if console.json else None
        try:
            result = subprocess.run([*command, str(file)], stdout=stdout)
        except OSError as error:
            raise UsageError(
                f"The editor {command[0]!r} cannot be started ({error.strerror}): set VISUAL or "
                "EDITOR."
            ) from error
        if result.returncode:
            raise UsageError(
                f"The editor {command[0]!r} ended with status {result.returncode}: nothing was "
                "changed."
            )
        return file.read_text(encoding="utf-8", errors="replace")


def _editor(console: Console) -> list[str]:
    for name in ("VISUAL", "EDITOR"):
        if words := shlex.split(os.environ.get(name, "")):
            return words
    found = next((name for name in _USUAL if which(name) is not None), None)
    if found is None or not console.interactive:
        raise UsageError(
            "There is no editor: set VISUAL or EDITOR, or give the edited IR with --from FILE."
        )
    return [found]


class EditIROptions(Options):
    what: Literal["cursor", "function", "module"] | None = positional(
        "cursor|function|module",
        help="the IR to edit; by default the function of the cursor, or the module",
    )
    file: str | None = option(
        "--from",
        "FILE",
        help="take the edited IR from FILE instead of an editor",
        complete=completers.files,
    )
    generic: bool = flag(help="edit the generic form")


@EDITS.command("edit-ir", example="edit-ir function", needs_tool=_EDITS)
def edit_ir(console: Console, options: EditIROptions) -> Edition | Text:
    """Edit IR at a stop before or after a pass, in $VISUAL or $EDITOR, and go on with it. Values
    have the printer's names. IR that does not parse or verify opens the editor again; an empty or
    unchanged file changes nothing.
    """
    console.need_stop()
    edits = console.live_session().edits
    what: What | None = options.what
    if what is None:
        what = "module" if console.session.cursor.get().function is None else "function"
    editable = edits.text(what, options.generic)
    if options.file is None:
        return _edit(console, edits, editable) or Text("Nothing was changed.")
    edited = edits.apply_text(editable, editable.with_part(_read(options.file)))
    return edited or Text("Nothing was changed.")


def _read(file: str) -> str:
    try:
        return Path(file).expanduser().read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not text"
        raise UsageError(f"{file!r} cannot be read ({why}): name another file.") from error


def _edit(console: Console, edits: Edits, editable: EditableText) -> Edition | None:
    """Open the editor until the text can be applied; return None if it was not changed."""
    stop = console.session.stop
    place = f"{stop.when} #{stop.ordinal} {stop.name}" if stop else ""
    heading = f"{editable.target} {place}"
    part = editable.part
    while True:
        help_line = "Save and leave the editor to apply; an empty or unchanged file: no edit."
        text = edit_text(console, f"// {heading}\n// {help_line}\n{part}")
        changed = "\n".join(text.split("\n")[_HEADING:]) if text.startswith("//") else text
        if not changed.strip() or changed == part:
            return None
        try:
            return edits.apply_text(editable, editable.with_part(changed))
        except EditRefused as refused:
            message = _in_editor(str(refused), editable)
            if not console.interactive or console.json:
                raise
            console.note(message)
            heading, part = f"error: {message}", changed


def _in_editor(message: str, editable: EditableText) -> str:
    """Return an error with the number of the line in the editor."""
    shift = _HEADING - editable.first
    return _LINE.sub(lambda match: f"{match[1]}ine {int(match[2]) + shift}", message, count=1)


class ApplyPassOptions(Options):
    pipeline: str = rest("'PIPELINE'", required=True, complete=completers.passes)


@EDITS.command("apply-pass", example="apply-pass 'canonicalize,cse'", needs_tool=_EDITS)
def apply_pass(console: Console, options: ApplyPassOptions) -> Edition | Text:
    """Run passes on the operation of the pass at this stop, before or after that pass."""
    console.need_stop()
    text = options.pipeline.strip()
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        text = text[1:-1]
    return console.live_session().edits.apply_pass(text) or Text("The passes change nothing.")


@EDITS.command("undo-edit", needs_tool=_EDITS)
def undo_edit(console: Console, _: NoOptions) -> Stop:
    """Go back to where the newest edit was made, and to the timeline without it."""
    return console.resume(console.live_session().timeline.undo_edit)


@EDITS.command("info edits", needs_tool=_EDITS, reads=True)
def info_edits(console: Console, _: NoOptions) -> EditsShown:
    """List the edits of this timeline."""
    return EditsShown(console.live_session().edits.all())


class EditFileOptions(Options):
    file: str = positional("FILE", help="the file of the edits", complete=completers.files)


@EDITS.command("save edits", example="save edits my.edits", needs_tool=_EDITS)
def save_edits(console: Console, options: EditFileOptions) -> Text:
    """Write the edits of this timeline to a file, as patches, for 'load edits' and --edits."""
    count = console.live_session().edits.save(options.file)
    return Text(f"Saved {counted(count, 'edit')} to {options.file}.")


@EDITS.command("load edits", example="load edits my.edits", needs_tool=_EDITS)
def load_edits(console: Console, options: EditFileOptions) -> Text:
    """Apply the edits of a file written by 'save edits', in this run and in later ones."""
    count = console.live_session().edits.load(options.file)
    head = f"Loaded {counted(count, 'edit')} from {options.file}."
    located = console.live_session().edits.report_located()
    return Text("\n".join([head, *map(located_text, located)]))
