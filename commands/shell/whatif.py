"""Commands about what could be otherwise: edits of the IR, alternatives, what applies now."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from actiondbg.commands.interpreter import completers, values
from actiondbg.commands.interpreter.declaration import UNRESTRICTED, Permissions, Topic
from actiondbg.commands.interpreter.options import (
    NoOptions,
    Options,
    flag,
    option,
    positional,
    rest,
)
from actiondbg.commands.interpreter.oracle_options import OracleOptions, optional_oracle
from actiondbg.commands.render.diff import DiffShown
from actiondbg.commands.render.edits import EditsShown
from actiondbg.commands.render.status import Text
from actiondbg.commands.render.whatif import AlternativesShown, ApplicableShown, PatternsShown
from actiondbg.errors import EditRefused, UsageError
from actiondbg.support.counts import counted
from actiondbg.support.executables import which
from actiondbg.support.scratch_directory import scratch_directory

if TYPE_CHECKING:
    from actiondbg.commands.interpreter.console import Console
    from actiondbg.commands.render.terminal.progress import ProgressLine
    from actiondbg.process.stop import Stop
    from actiondbg.session.edits.edits import EditableText, Edition, Edits, What
    from actiondbg.session.session import Session

_USUAL = ("sensible-editor", "nano", "vim", "vi")
WHATIF = Topic("What if", contained=True)
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


@WHATIF.command("edit-ir", example="edit-ir function", needs_tool=_EDITS, contained=False)
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


@WHATIF.command("apply-pass", example="apply-pass 'canonicalize,cse'", needs_tool=_EDITS)
def apply_pass(console: Console, options: ApplyPassOptions) -> Edition | Text:
    """Run passes on the operation of the pass at this stop, before or after that pass."""
    console.need_stop()
    text = options.pipeline.strip()
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        text = text[1:-1]
    return console.live_session().edits.apply_pass(text) or Text("The passes change nothing.")


@WHATIF.command("undo-edit", needs_tool=_EDITS)
def undo_edit(console: Console, _: NoOptions) -> Stop:
    """Go back to where the newest edit was made, and to the timeline without it."""
    return console.resume(console.live_session().timeline.undo_edit)


@WHATIF.command("info edits", needs_tool=_EDITS, reads=True)
def info_edits(console: Console, _: NoOptions) -> EditsShown:
    """List the edits of this timeline."""
    return EditsShown(console.live_session().edits.all())


class EditFileOptions(Options):
    file: str = positional("FILE", help="the file of the edits", complete=completers.files)


@WHATIF.command("save edits", example="save edits my.edits", needs_tool=_EDITS, contained=False)
def save_edits(console: Console, options: EditFileOptions) -> Text:
    """Write the edits of this timeline to a file, as patches, for 'load edits' and --edits."""
    count = console.live_session().edits.save(options.file)
    return Text(f"Saved {counted(count, 'edit')} to {options.file}.")


@WHATIF.command("load edits", example="load edits my.edits", needs_tool=_EDITS, contained=False)
def load_edits(console: Console, options: EditFileOptions) -> Text:
    """Apply the edits of a file written by 'save edits', in this run and in later ones."""
    count = console.live_session().edits.load(options.file)
    head = f"Loaded {counted(count, 'edit')} from {options.file}."
    located = console.live_session().edits.report_located()
    from actiondbg.commands.render.edits import located_text

    return Text("\n".join([head, *map(located_text, located)]))


_TRY_SECONDS = 5.0


class AlternativesOptions(OracleOptions):
    """The options of ``whatif``, at the prompt and on the command line."""

    until: str | None = option(
        "PASS",
        help="compare the IR after the next run of a pass, instead of the end",
        complete=completers.passes,
    )
    jobs: int = option(
        "-j",
        "--jobs",
        "N",
        default=1,
        help="the number of alternatives that run at a time (1)",
        parse=values.positive,
    )
    timeout: float | None = option(
        "SECONDS", help="the time limit of an alternative", parse=values.seconds
    )
    diff: bool = flag(help="show the diff of the final IR of each alternative too")
    all: bool = flag(help="show all operations whose numbers differ, not only the first")


def _forms() -> Mapping[str, str]:
    from actiondbg.whatif.alternatives import FORMS

    return FORMS


class WhatifOptions(AlternativesOptions):
    text: str = rest(
        "ALTERNATIVE[; ALTERNATIVE...]",
        required=True,
        complete=completers.alternative,
        forms=_forms,
    )


@WHATIF.command(
    "whatif",
    example="whatif pattern:AddIAddConstant off; drop cse",
    redirects=True,
    needs_tool="A run that does otherwise",
    contained=False,
)
def whatif(console: Console, options: WhatifOptions) -> AlternativesShown:
    """Compare the run as it is with alternatives, each in a fork of this stop. A PASS may be a run
    of it, such as cse#2. 'and' joins changes into one alternative. The session itself is not
    affected.
    """
    shown = compare_alternatives(
        console.live_session(), options.text, options, console.progress, console.permissions
    )
    if console.comparison is not None:
        console.comparison.close()
    console.comparison = shown.comparison
    return shown


def compare_alternatives(
    session: Session,
    alternatives: str | Sequence[str],
    options: AlternativesOptions,
    progress: ProgressLine,
    permissions: Permissions = UNRESTRICTED,
) -> AlternativesShown:
    """Compare the run of a session with alternatives; select the rows, diffs and notes to show."""
    from actiondbg.whatif.alternatives_comparison import compare, unmatched_sentence

    with progress.shown("... 0 runs"):
        found = compare(
            session,
            alternatives,
            until=options.until,
            oracle=optional_oracle(options, permissions),
            jobs=options.jobs,
            timeout=options.timeout,
            progress=_counting(progress, "runs"),
        )
    unmatched = [row.unmatched for row in found.rows if row.unmatched]
    notes = [unmatched_sentence(changes, session) for changes in unmatched] + found.notes
    numbers = range(1, len(found.rows)) if options.diff else ()
    diffs = [found.without_ir(number) or found.diff(number) for number in numbers]
    return AlternativesShown(found, options.all, list(dict.fromkeys(notes)), diffs)


def _counting(progress: ProgressLine, what: str) -> Callable[[int, int], None]:
    """Return a callback that shows how many of all are done."""

    def show(done: int, total: int) -> None:
        progress.change(f"... {done} of {total} {what},")

    return show


class WhatifDiffOptions(Options):
    number: int = positional("N", help="the number of an alternative", parse=values.positive)
    side_by_side: bool = flag(help="print the alternative on the right")


@WHATIF.command(
    "whatif diff",
    example="whatif diff 1",
    needs_tool="A run that does otherwise",
    abbreviates=False,
)
def whatif_diff(console: Console, options: WhatifDiffOptions) -> DiffShown:
    """Show the difference between the final IR of the run as it is and of alternative N of the
    latest 'whatif'.
    """
    if console.comparison is None:
        raise UsageError("There is no comparison yet: make one with 'whatif'.")
    return DiffShown(console.comparison.diff(options.number), options.side_by_side, 3)


class ApplicableOptions(Options):
    patterns: bool = flag(help="list the patterns that the pass of this stop will apply")
    all: bool = flag(help="list the passes too that change nothing or cannot run, and why")
    timeout: float = option(
        "SECONDS",
        default=_TRY_SECONDS,
        help="the time limit of each pass (5)",
        parse=values.seconds,
    )


@WHATIF.command("info applicable", needs_tool="Trying passes", reads=True)
def info_applicable(
    console: Console, options: ApplicableOptions
) -> ApplicableShown | PatternsShown:
    """List the passes of the tool that would change the IR now, those with the most changes first:
    each is tried in a fork of this stop, before or after a pass, for at most the time of --timeout.
    With --patterns, list the patterns that this pass will apply.
    """
    from actiondbg.whatif.applicable import applicable_patterns, try_passes

    session = console.live_session()
    if options.patterns:
        if options.all:
            raise UsageError("--all is about passes, not about --patterns: leave it out.")
        with console.progress.shown():
            return PatternsShown(applicable_patterns(session))
    with console.progress.shown("... 0 passes"):
        counting = _counting(console.progress, "passes")
        tried = try_passes(session, seconds=options.timeout, progress=counting)
    return ApplicableShown(tried, options.all)
