"""Tools that try something out: skips, edits, alternatives, bisection, validation."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import msgspec
from msgspec import Meta

from actiondbg.bisection.verdict import Mode
from actiondbg.commands.interpreter import completers
from actiondbg.commands.interpreter.options import NoOptions, fields_of
from actiondbg.commands.interpreter.oracle_options import NEEDS, OracleOptions, build_oracle
from actiondbg.commands.mcp.declaration import Arguments, InSession, Positive, arguments_like, tool
from actiondbg.commands.mcp.desk import Desk
from actiondbg.commands.mcp.tools.sessions import Command, Count, Stdin
from actiondbg.commands.render.bisection import bisection_text, progress_words
from actiondbg.commands.shell import bisection, controls, time_travel
from actiondbg.commands.shell import whatif as alternatives
from actiondbg.commands.shell.past import ValidationOptions
from actiondbg.errors import UsageError
from actiondbg.whatif.alternatives import FORMS

if TYPE_CHECKING:
    from actiondbg.bisection.progress import Progress
    from actiondbg.validation.run_validation import Stage


class SkipArguments(InSession, frozen=True, kw_only=True):
    spec: Annotated[
        str | None,
        Meta(
            description="skip every action that matches this SPEC, from here on and in later runs, "
            "such as pattern:AddIAdd*; without it, the action of this stop"
        ),
    ] = None
    stop_after: Annotated[
        bool, Meta(description="stop at once after the skipped action, instead of running on")
    ] = False
    count: Count = 1


@tool("skip")
def skip(desk: Desk, given: SkipArguments) -> object:
    """Skip the action of this stop and run on to the next breakpoint or the end; or let all
    actions be skipped that match a SPEC, and stay here. Shows whether an action is to blame.
    """
    if given.spec is not None:
        return time_travel.set_skip(desk.console, controls.PlaceOptions(text=given.spec))
    options = controls.SkipOptions(count=given.count, step=given.stop_after)
    return controls.skip(desk.console, options)


class EditArguments(InSession, frozen=True, kw_only=True):
    text: Annotated[
        str | None,
        Meta(description="the new IR; without it, the text to change is returned"),
    ] = None
    what: Annotated[
        Literal["cursor", "function", "module"], Meta(description="what the text replaces")
    ] = "function"
    pipeline: Annotated[
        str | None,
        Meta(description="instead of a text: passes to run now, such as canonicalize,cse"),
    ] = None
    undo: Annotated[
        bool, Meta(description="instead: go back to the newest edit, and to the run without it")
    ] = False


@tool("edit")
def edit(desk: Desk, given: EditArguments) -> object:
    """Change the IR at a stop before or after a pass: replace a text, or run passes now. Call it
    first without a text: it returns the text to change. The next run or step goes on with the
    changed IR.
    """
    console = desk.console
    if [given.text is not None, given.pipeline is not None, given.undo].count(True) > 1:
        raise UsageError("edit needs one of text, pipeline or undo: give one of them.")
    if given.undo:
        return alternatives.undo_edit(console, NoOptions())
    if given.pipeline is not None:
        desk.restrictions.check_arguments([given.pipeline])
        return alternatives.apply_pass(
            console, alternatives.ApplyPassOptions(pipeline=given.pipeline)
        )
    console.need_stop()
    session = console.live_session("Editing IR")
    editable = session.edits.text(given.what)
    if given.text is None:
        return editable.part
    edited = session.edits.apply_text(editable, editable.with_part(given.text))
    return edited or "Nothing was changed."


if TYPE_CHECKING:
    Oracle = Arguments
else:
    Oracle = arguments_like(
        "Oracle",
        OracleOptions,
        {name: f"; needs --allow {permission}" for name, (permission, _) in NEEDS.items()},
        left_out=("shared_libs",),  # they would be loaded into the tool
    )


def _oracle_fields(desk: Desk, given: Oracle | None) -> dict[str, object]:
    """Return the fields of the shell's OracleOptions, after a check of what they need."""
    if given is None:
        return {}
    found = {
        each.name: value
        for each in fields_of(OracleOptions)
        if (value := getattr(given, each.name, each.default)) != each.default
    }
    for name, needed in NEEDS.items():
        if name in found:
            desk.restrictions.need(*needed)
    for each in fields_of(OracleOptions):
        if each.name in found and each.complete is completers.files:
            desk.restrictions.path(found[each.name])
    if "lower" in found:
        desk.restrictions.check_arguments([found["lower"]])
    return found


class WhatifArguments(InSession, frozen=True, kw_only=True):
    alternatives: Annotated[
        str,
        Meta(
            description="separated by ;, and by 'and' within one: "
            + ", ".join(f"{form} ({meaning})" for form, meaning in FORMS.items())
            + "; a PASS may be a run of it, cse#2"
        ),
    ]
    until: Annotated[
        str | None, Meta(description="compare the IR after the next run of this pass")
    ] = None
    diff: Annotated[bool, Meta(description="show the diff of the final IR, too")] = False
    oracle: Oracle | None = None


@tool("whatif")
def whatif(desk: Desk, given: WhatifArguments) -> object:
    """Compare the run as it is with runs that do something otherwise from this stop on, such as
    without a pass: time, operations, the final IR, and the verdict of an oracle if one is given.
    The session stays where it is.
    """
    desk.restrictions.check_arguments([given.alternatives])
    options = alternatives.WhatifOptions(
        text=given.alternatives,
        until=given.until,
        diff=given.diff,
        **_oracle_fields(desk, given.oracle),
    )
    return alternatives.whatif(desk.console, options)


class BisectArguments(Arguments, frozen=True, kw_only=True):
    """Fields with names of ``BisectOptions`` are these options."""

    command: Command
    oracle: Oracle
    stdin: Stdin = None
    mode: Annotated[
        Mode,
        Meta(
            description="first: the first action that turns good to bad; skip: the fewest skips "
            "that make it good; minimize: the fewest actions that are still bad"
        ),
    ] = "first"
    tag: Annotated[str | None, Meta(description="only actions with this tag, a glob")] = None
    name: Annotated[str | None, Meta(description="only patterns, passes of this name, a glob")] = (
        None
    )
    func: Annotated[str | None, Meta(description="only actions in this function, a glob")] = None
    filter: Annotated[
        tuple[str, ...], Meta(description="only actions that match one of these SPEC [if EXPR]")
    ] = ()
    max_seconds: Annotated[
        Annotated[float, Meta(gt=0)] | None, Meta(description="begin no trial after these seconds")
    ] = None
    max_trials: Annotated[Positive | None, Meta(description="make at most this many trials")] = None
    reduce: Annotated[bool, Meta(description="reduce the input, too")] = False
    output: Annotated[
        str | None,
        Meta(
            description="a new folder for the report and a reproducer; without it none is written"
        ),
    ] = None


@tool("bisect")
def bisect(desk: Desk, given: BisectArguments) -> object:
    """Find the action that miscompiles a program, crashes the tool or breaks the IR: run the
    command many times with actions skipped, judged by an oracle. Takes seconds to minutes. The
    result names an action #N, to which a session of the same command can run.
    """
    restrictions = desk.restrictions
    of_search = bisection.BisectOptions.__annotations__.keys() - {"output"}
    options = bisection.BisectOptions(
        **{name: getattr(given, name) for name in of_search & set(given.__struct_fields__)},
        **_oracle_fields(desk, given.oracle),
    )

    def report(progress: Progress) -> None:
        total = None if progress.to_go is None else progress.trials + progress.to_go
        desk.report(progress.note or progress_words(progress), progress.trials, total)

    result = bisection.prepared_search(options)(
        restrictions.check_command(given.command),
        build_oracle(options),
        output=None if given.output is None else Path(restrictions.path(given.output)),
        stdin=os.devnull if given.stdin is None else restrictions.path(given.stdin),
        progress=report,
    )
    if result.reproducer is not None:
        folder = os.path.relpath(result.reproducer)
        result = msgspec.structs.replace(result, reproducer=folder)
    return bisection_text(result)


class RunToValidate(Arguments, frozen=True, kw_only=True):
    command: Command
    stdin: Stdin = None
    output: Annotated[
        str | None,
        Meta(description="a new folder for the report and the counterexample as programs"),
    ] = None


if TYPE_CHECKING:
    ValidateArguments = RunToValidate
else:
    ValidateArguments = arguments_like(
        "ValidateArguments",
        ValidationOptions,
        dict.fromkeys(("timeout", "budget"), ", in seconds"),
        left_out=("jobs",),
        base=RunToValidate,
    )


@tool("validate")
def validate(desk: Desk, given: ValidateArguments) -> object:
    """Judge for each action of a run whether the program still does the same, by proof and by
    running functions: finds a miscompile without an oracle, and shows an input that differs. Takes
    seconds to minutes, and needs --allow execute. The result names an action #N.
    """
    from actiondbg.commands.render.validation import progress_words, validation_lines
    from actiondbg.recording.errors import READING, need_packages
    from actiondbg.validation.run_validation import validate, write_report

    restrictions = desk.restrictions
    restrictions.need("execute", "The tool validate, which may run the compiled program")
    need_packages("The tool validate", (*READING, "ml_dtypes", "bitwuzla"), extra="validate")
    output = None if given.output is None else Path(restrictions.path(given.output))
    if output is not None and output.exists():  # it may have links to files outside
        raise UsageError(f"{given.output!r} exists: name a new folder.")

    def report(stage: Stage, done: int, total: int) -> None:
        desk.report(progress_words(stage, done, total), done, total or None)

    notes: list[str] = []
    found = validate(
        restrictions.check_command(given.command),
        stdin=None if given.stdin is None else restrictions.path(given.stdin),
        progress=report,
        warn=notes.append,
        **{
            each.name: getattr(given, each.name)
            for each in fields_of(ValidationOptions)
            if each.name in given.__struct_fields__
        },
    )
    if output is not None:
        write_report(output, "\n".join(validation_lines(found, str, all=True)), found)
        notes.append(f"Written: {given.output}.")
    return ["\n".join(validation_lines(found, str)), *notes]
