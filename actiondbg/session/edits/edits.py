"""The edits of a run: text and passes that change the IR at a stop, on a branch."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import msgspec

from actiondbg import protocol
from actiondbg.analysis.pipeline import is_adaptor
from actiondbg.errors import EditRefused, NotStopped, ToolGone, UsageError
from actiondbg.ir.diff import Diff, make_diff
from actiondbg.ir.printed import PrintedText
from actiondbg.process.action_diff import print_named
from actiondbg.process.branches import Edited
from actiondbg.process.execution import Execution
from actiondbg.process.forked_tool import ForkedTool
from actiondbg.process.stop import Stop
from actiondbg.protocol.tags import PASS_TAG
from actiondbg.session.edits.edit_file import (
    SavedEdit,
    apply_patch,
    make_patch,
    read_edits,
    write_edits,
)
from actiondbg.session.executions import Executions
from actiondbg.session.inspection.cursor import Cursor
from actiondbg.session.occurrences import find_nth, numbers_of, stopping_at, why_not_found
from actiondbg.session.past.replay import Replay
from actiondbg.session.scout import Scout
from actiondbg.session.skip_plan import SkipPlan

What = Literal["cursor", "function", "module"]
_RESOURCE = "dense_resource<"


class EditableText(NamedTuple):
    """The text to edit."""

    text: str  # the whole printed operation
    first: int  # the index of the first line to edit
    last: int  # the index behind the last line to edit
    target: str  # "@SYMBOL" or "module"
    id: int  # of the operation
    generic: bool  # whether the text is in the generic form

    def __str__(self) -> str:
        return self.part

    @property
    def part(self) -> str:
        """The lines to edit."""
        return "".join(self.text.splitlines(keepends=True)[self.first : self.last])

    def with_part(self, part: str) -> str:
        """Return the whole text with other lines in the place of those to edit."""
        lines = self.text.splitlines(keepends=True)
        end = "" if not part or part.endswith("\n") else "\n"
        return "".join([*lines[: self.first], part + end, *lines[self.last :]])


class Edition(msgspec.Struct, kw_only=True, frozen=True):
    """The result of an edit."""

    edited: Edited
    branch: int  # the number of the branch that begins with it
    diff: Diff  # the IR before and after it


class Edits:
    """The edits of each run: made at a stop, loaded from files, and saved.

    An edit is applied in the tool, parsed and verified with its dialects, after a fork has tried
    it. It begins a branch of the timeline: replays, checkpoints and time travel on the branch
    repeat it, and a new run does not.

    Values have the names that MLIR's printer gives them, so that a saved edit fits any session.

    Args:
        resets: called after the IR has changed.
    """

    def __init__(
        self,
        executions: Executions,
        cursor: Cursor,
        scout: Scout,
        replay: Replay,
        skips: SkipPlan,
        resets: Sequence[Callable[[], None]],
    ) -> None:
        self._executions = executions
        self._cursor = cursor
        self._scout = scout
        self._replay = replay
        self._skips = skips
        self._resets = resets
        self._loaded: list[tuple[SavedEdit, list[str]]] = []  # applied in each run
        self._pending = False  # located at the first stop
        self._located: list[Edited] = []  # since they were last reported
        self._files = 0

    def all(self) -> list[Edited]:
        """Return the edits of the current timeline, those ahead included."""
        return self._executions.need_idle().branches.edits()

    # --- edits at a stop ---

    def text(self, what: What = "function", generic: bool = False) -> EditableText:
        """Return the IR to edit.

        Args:
            what: the cursor's operation, its function or its module; of an operation without
                regions, the lines in its function are to be edited.
            generic: in generic form.

        Raises:
            EditRefused: this IR cannot be edited at this stop.
        """
        self._check_stopped()
        whole: Literal["function", "module"] = "module" if what == "module" else "function"
        target, id = self._target(whole)
        self._check(id)
        file = self._executions.new_print()
        message = protocol.Print(
            what="operation", id=id, path=str(file), generic=generic, mark=what == "cursor"
        )
        with PrintedText(file, self._executions.ask(message)) as printed:
            text, mark = printed.text, printed.mark
        first, last = 0, len(text.splitlines())
        if what == "cursor":
            if mark is None:
                raise EditRefused(
                    "The lines of the cursor's operation are not known: edit its function with "
                    "'edit-ir function'."
                )
            first, last = mark[0] - 1, mark[1]
        return EditableText(text, first, last, target, id, printed.generic or generic)

    def apply(
        self, text: str, what: Literal["function", "module"] = "function", generic: bool = False
    ) -> Edition | None:
        """Replace IR by an edited text, on a new branch.

        Args:
            text: of the whole function or module, as ``text`` printed it, edited.
            what: the cursor's function, or the module.
            generic: whether the text is in generic form.

        Returns:
            The edit; None if the text was not changed.

        Raises:
            EditRefused: the text does not parse or verify, or this IR cannot be edited at this
                stop. Nothing was changed.
        """
        return self.apply_text(self.text(what, generic), text)

    def apply_text(self, editable: EditableText, text: str) -> Edition | None:
        """Replace IR by an edited text; see ``apply``."""
        if not text.strip() or text.rstrip() == editable.text.rstrip():
            return None
        _check_resources(text)
        edit = protocol.Edit(
            event=self._event(),
            id=editable.id,
            path=self._write(text),
            generic=editable.generic,
        )
        return self._splice(edit, editable.target, make_patch(editable.text, text))

    def apply_pass(self, pipeline: str) -> Edition | None:
        """Run passes on the IR at a stop before or after a pass, on a new branch.

        Args:
            pipeline: as the option --pass-pipeline has it, for the operation of the pass at the
                stop; such as "canonicalize,cse".

        Returns:
            The edit; None if the passes change nothing.

        Raises:
            EditRefused: the pipeline does not parse, a pass fails, or this IR cannot be changed at
                this stop. Nothing was changed.
        """
        self._check_stopped()
        if not pipeline.strip():
            raise UsageError("The pipeline is empty: give passes, such as 'canonicalize,cse'.")
        frames = self._executions.ask(protocol.GetFrames()).frames
        unit = frames[0].units[0] if frames and frames[0].units else None
        self._check(None if unit is None else unit.id)
        assert unit is not None and unit.id is not None  # the operation of a pass
        anchor = pipeline.strip().partition("(")[0]
        if anchor == "builtin.module" and unit.name != anchor:
            raise EditRefused(
                f"The pipeline is one for {anchor}, and the pass at this stop runs on {unit.name}: "
                f"give the passes in {anchor}(...) alone, or go to a pass on the module."
            )
        stop = self._executions.stop
        target = "module" if stop is None or stop.function is None else f"@{stop.function}"
        edit = protocol.Edit(event=self._event(), id=unit.id, pipeline=pipeline)
        return self._splice(edit, target, [])

    # --- files ---

    def save(self, path: str | os.PathLike[str]) -> int:
        """Write the edits of this timeline to a file; return their number.

        Raises:
            UsageError: there are none, or the file is a recording.
            FileNotWritten: the file cannot be written.
        """
        edits = self.all()
        if not edits:
            raise UsageError("There are no edits on this timeline: make one with edit-ir.")
        numbers: dict[int, int] = {}
        if self._executions.need_idle().has_origin:
            numbers = numbers_of(self._replay, edits)
        write_edits(path, self._executions.program.argv, edits, numbers)
        return len(edits)

    def load(self, path: str | os.PathLike[str]) -> int:
        """Apply the edits of a file in this run, from here on, and in later ones.

        Returns:
            The number of edits in the file.

        Raises:
            UsageError: the file cannot be read, or an edit's action has passed.
            EditRefused: an edit does not fit this run.
        """
        saved = read_edits(path)
        execution = self._executions.current
        if execution is not None and execution.state == "stopped":
            self._plan(execution, saved)
        self._loaded += saved
        return len(saved)

    def report_located(self) -> list[Edited]:
        """Return the edits of files that were located in a run since the last report."""
        located, self._located = self._located, []
        return located

    # --- runs ---

    def begin_run(self) -> bool:
        """Prepare the loaded edits for a new run; return whether there are any."""
        self._pending = bool(self._loaded)
        return self._pending

    def update(self, stop: Stop) -> Stop:
        """Locate the loaded edits at the first stop of a run.

        Raises:
            EditRefused: an edit does not fit this run; the edits of files are not applied to it.
        """
        if self._pending and stop.when != "exit":
            self._pending = False
            self._plan(self._executions.need_idle(), self._loaded)
            return self._executions.stop or stop
        return stop

    # --- helpers ---

    def _check_stopped(self) -> None:
        """Raise NotStopped, or EditRefused at the end of the tool."""
        self._executions.need_idle()
        check = self._executions.stop
        if check is None or check.when == "exit":
            check_place(check, [], None)

    def _check(self, id: int | None) -> None:
        frames = self._executions.ask(protocol.GetFrames()).frames
        check_place(self._executions.stop, frames, id)

    def _event(self) -> int:
        stop = self._executions.stop
        return 0 if stop is None else stop.event

    def _target(self, what: Literal["function", "module"]) -> tuple[str, int]:
        """Return the function or the module of the cursor, which stays where it is."""
        with self._cursor.kept():
            return _move_to(self._cursor.move, what)

    def _reset(self) -> None:
        for each in self._resets:
            each()

    def _write(self, text: str) -> str:
        """Write a text into a file that lasts as long as the session."""
        self._files += 1
        file = self._executions.file(f"edit-{self._files}")
        file.write_text(text, encoding="utf-8")
        return str(file)

    def _splice(self, edit: protocol.Edit, target: str, patch: list[str]) -> Edition | None:
        """Try an edit in a fork, then apply it on a new branch; None if it changes nothing."""
        execution = self._executions.need_idle()
        stop = execution.stop
        assert stop is not None  # checked by the callers
        diff = self._try(execution, edit)
        if diff.is_empty:
            return None
        edited = Edited(
            when="after" if stop.when == "after" else "before",
            target=target,
            edit=edit,
            patch=patch,
            **protocol.ref_fields(stop),
        )
        before = execution.branches.save()
        execution.branches.edit(stop, edited)
        try:
            self._skips.rules.begin_branch(stop)
            execution.send_skips()
        except BaseException:
            execution.branches = before
            raise
        self._skips.replan(before.planned())
        self._reset()
        title = f"{target} {edited.when} #{stop.ordinal} {stop.name}"
        return Edition(
            edited=edited,
            branch=execution.branches.current.number,
            diff=msgspec.structs.replace(diff, title=title),
        )

    def _try(self, execution: Execution, edit: protocol.Edit) -> Diff:
        """Apply an edit in a fork of the tool, and return the difference that it makes."""
        with self._scout.fork_tool() as fork:
            before = print_named(fork, edit.id, self._executions.new_print(), edit.generic)
            _apply_in(fork, execution, [*execution.branches.edits()], edit)
            after = print_named(fork, edit.id, self._executions.new_print(), edit.generic)
        return make_diff(before.text, after.text, before.names, after.names)

    def _plan(self, execution: Execution, saved: Sequence[tuple[SavedEdit, list[str]]]) -> None:
        """Locate saved edits ahead, and add them to the timeline."""
        before, located = execution.branches.save(), list[Edited]()
        try:
            for entry, patch in saved:
                # Each with the skips that lie before it, and the skips after it with the edit.
                with self._scout.fork_tool() as fork:
                    edited = self._locate(fork, execution, entry, patch)
                if not located:
                    self._begin_branch(execution)
                located.append(edited)
                execution.branches.plan_edits([edited])
                later = [one for one in execution.branches.skips() if one.event > edited.edit.event]
                self._skips.replan([one.ordinal for one in later])
        except BaseException:
            execution.branches = before
            raise
        finally:
            execution.send_skips()
            self._reset()
        self._located += located

    def _begin_branch(self, execution: Execution) -> None:
        """Begin a branch for what differs after this stop, if the run went on from here before."""
        stop = execution.stop
        if stop is not None and execution.branches.current.reached > stop.event:
            execution.branches.leave(stop)
            self._skips.rules.begin_branch(stop)

    def _locate(
        self, fork: ForkedTool, execution: Execution, entry: SavedEdit, patch: list[str]
    ) -> Edited:
        """Return a saved edit for this run, after it was applied in a fork."""
        done = [*execution.branches.edits()]
        stop = self._advance(fork, execution, done, entry)
        try:
            if entry.target == "module":
                _, id = _move_to(lambda to: fork.request(protocol.MoveCursor(to=to)), "module")
            else:
                id = fork.request(
                    protocol.MoveCursor(to="symbol", name=entry.target.removeprefix("@"))
                ).unit.id
            if id is None:
                raise EditRefused("the operation has no id")
            edit = protocol.Edit(
                event=stop.event, id=id, pipeline=entry.pipeline, generic=entry.generic
            )
            if entry.pipeline is None:
                file = self._executions.new_print()
                before = print_named(fork, id, file, entry.generic)
                path = self._write(apply_patch(before.text, patch))
                edit = msgspec.structs.replace(edit, path=path)
            _apply_in(fork, execution, done, edit)
        except EditRefused as refused:
            why = str(refused).rstrip(".")
            why = why[:1].lower() + why[1:]
            raise EditRefused(f"The edit {entry.place} cannot be applied: {why}.") from refused
        return Edited(
            when=entry.when,
            target=entry.target,
            edit=edit,
            patch=patch,
            saved=entry.ordinal,
            **protocol.ref_fields(stop),
        )

    def _advance(
        self, fork: ForkedTool, execution: Execution, done: Sequence[Edited], entry: SavedEdit
    ) -> Stop:
        """Replay in a fork up to the place of a saved edit.

        Raises:
            UsageError: the place has passed.
            EditRefused: the saved action does not occur.
        """
        here = fork.stop
        ordinal = self._find(execution, done, entry)
        if here is not None and here.ordinal > ordinal:
            raise UsageError(
                f"The edit {entry.place} has passed: start the tool again with 'restart'."
            )
        try:
            stop = fork.advance(ordinal, entry.when)
        except ToolGone as gone:
            raise EditRefused(
                f"The edit {entry.place} does not match: the run ends earlier."
            ) from gone
        if not entry.matches(stop):
            found = f"#{stop.ordinal} {stop.tag} ({stop.name or 'nameless'})"
            raise EditRefused(f"The edit {entry.place} does not match: found {found}.")
        return stop

    def _find(self, execution: Execution, done: Sequence[Edited], entry: SavedEdit) -> int:
        """Return the ordinal of a saved action in this run, with the edits before it.

        Without its number among the equal ones, or where the run cannot be replayed, it is the
        saved ordinal.
        """
        if not entry.nth or not execution.has_origin:
            return entry.ordinal
        request = msgspec.structs.replace(
            execution.branches.request(), edits=[one.edit for one in done]
        )
        with self._scout.fork(execution.origin, [stopping_at(entry.what)]) as fork:
            fork.request(request)
            stop = find_nth(fork, entry)
        if stop is None:
            raise EditRefused(f"The edit {entry.place} does not match. {why_not_found(entry)}")
        return stop.ordinal


def _apply_in(
    fork: ForkedTool, execution: Execution, done: Sequence[Edited], edit: protocol.Edit
) -> None:
    """Apply an edit in a fork that has reached its event; raises EditRefused."""
    edits = [*(one.edit for one in done), edit]
    request = msgspec.structs.replace(execution.branches.request(), edits=edits)
    try:
        fork.request(request)
    except ToolGone as gone:
        raise EditRefused(
            "A fork of the tool crashed when it applied the edit: nothing was changed."
        ) from gone


def _move_to(
    move: Callable[[protocol.Move], protocol.Cursor], what: Literal["function", "module"]
) -> tuple[str, int]:
    """Move to a function or a module; return its name and its id."""
    cursor = move(what)
    id = cursor.unit.id
    if id is None:
        raise EditRefused(f"The {what} of the cursor has no id, and cannot be edited.")
    is_function = what == "function" and cursor.function is not None
    return (f"@{cursor.function}" if is_function else "module"), id


def _check_resources(text: str) -> None:
    """Refuse references to resources whose contents the text does not have."""
    if _RESOURCE in text and "dialect_resources" not in text:
        raise EditRefused(
            "The IR refers to resources (dense_resource), which only the text of the whole module "
            "has: use 'edit-ir module'."
        )


def check_place(stop: Stop | None, frames: Sequence[protocol.Frame], target: int | None) -> None:
    """Check that an operation can be edited at a stop.

    Pass managers allow changes around a pass of their own. A pass or a driver that is running
    holds pointers to the operations that it has to look at: changing them would break it.

    Args:
        frames: the stack of actions there, the innermost first.
        target: the id of the operation; None if it has none.

    Raises:
        NotStopped: the tool is not stopped.
        EditRefused: the operation cannot be edited here; the message names the nearest places.
    """
    if stop is None or stop.when == "exit":
        raise NotStopped("The tool is not stopped: there is no IR to edit.")
    if not frames:
        raise EditRefused("No action is running: edit the IR at a stop before or after a pass.")
    innermost = frames[0]
    running = [one for one in frames if not is_adaptor(one.name)]
    is_at_pass = innermost.tag == PASS_TAG and stop.when in ("before", "after")
    if not is_at_pass or any(one is not innermost for one in running):
        raise _refusal(running[-1], "holds operations of this IR")
    around = [one for one in frames[1:] if _operation(one) == target]
    if target is not None and around:
        raise _refusal(around[0], "is iterating over the operations inside this operation")


def _operation(frame: protocol.Frame) -> int | None:
    return frame.units[0].id if frame.units else None


def _refusal(frame: protocol.Frame, why: str) -> EditRefused:
    """Return the error that names an action which has to end first."""
    number = f"#{frame.ordinal}"
    what = (
        f"the pass manager {number}"
        if is_adaptor(frame.name)
        else f"{number} {frame.name or frame.tag}"
    )
    if frame.tag != PASS_TAG:
        return EditRefused(
            f"The IR cannot be edited here: {what} {why}; stop before or after a pass."
        )
    return EditRefused(
        f"The IR cannot be edited here: {what} {why}; edit it before this action ('goto "
        f"{number}') or "
        f"after it ('goto {number} --after')."
    )
