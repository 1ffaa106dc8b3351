"""The folder of a bisection: a report, and a reproducer that needs the stock tool alone.

All that can be run in it was run as it lies there, and the report says what that showed.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from msgspec import structs

from actiondbg.bisection.oracles.oracle import Command as TestCommand
from actiondbg.bisection.oracles.oracle import Crash, Diagnostic, Oracle, Surroundings, Verify
from actiondbg.bisection.report.content import Report, Text, ToolFacts, read_text
from actiondbg.bisection.report.html import html_report
from actiondbg.bisection.report.markdown import markdown_report
from actiondbg.bisection.reproducer.ir_snapshots import Past, Sides, print_sides
from actiondbg.bisection.reproducer.pipelines import normal
from actiondbg.bisection.reproducer.portable import Command, Copies, make_portable, shown
from actiondbg.bisection.reproducer.run import SCRIPT, Show, Shown
from actiondbg.bisection.reproducer.script import Judge
from actiondbg.bisection.reproducer.session_script import SESSION, session_script
from actiondbg.bisection.reproducer.shell_oracles import judge_of
from actiondbg.bisection.reproducer.strategies import (
    AFTER,
    BEFORE,
    BEFORE_PASS,
    Known,
    Way,
    fallback,
    ways,
)
from actiondbg.bisection.result import Guilty, Result
from actiondbg.errors import FileNotWritten, UsageError
from actiondbg.support.atomic_directory import placed
from actiondbg.tool import Tool

REPORT, PAGE = "report.md", "report.html"
_DUMP_SECONDS = 60.0
_TITLES = {
    BEFORE: "the module just before the action",
    AFTER: "the module just after the action",
    BEFORE_PASS: "the module before its pass",
}


@dataclass(frozen=True)
class Reproduced:
    """What was written.

    Args:
        folder: where.
        verified: whether the reproducer, run as it lies there, showed bad and good.
        way: what it shows, one sentence.
        shown: its steps, a line each: what was run, what was expected, how it was judged.
        notes: what else is to be known, a sentence each.
    """

    folder: Path
    verified: bool
    way: str
    shown: list[str] = field(default_factory=list[str])
    notes: list[str] = field(default_factory=list[str])


def write_reproducer(
    result: Result,
    oracle: Oracle,
    folder: Path,
    past: Past,
    around: Surroundings,
    tool: Tool,
    *,
    environment: Mapping[str, str] | None = None,
) -> Reproduced:
    """Write the folder.

    Args:
        result: what was found; with a guilty action.
        oracle: that judged it; prepared.
        folder: comes to its place as a whole, or not at all; one that this wrote is replaced.
        past: the run that the ordinals of the guilty action's stack are of.
        around: the oracle's surroundings; the tool's command line, its input (which it reads as
            its standard input if no word names it) and how long a run may take.
        tool: the stock tool.
        environment: the tool's; None for ours.

    Raises:
        UsageError: there is no guilty action.
        FileNotWritten: the folder cannot be made, or is another's.
    """
    if result.guilty is None:
        raise UsageError("No action is to blame, so there is nothing to reproduce.")
    with placed(folder, REPORT) as making:
        work = _Work(result, result.guilty, oracle, making, past, around, tool, environment)
        try:
            return work.write(Path(os.path.abspath(folder)))
        except OSError as error:
            raise FileNotWritten(
                f"The report cannot be written beside {str(folder)!r} ({error.strerror}): "
                "is there room left on the disk?"
            ) from error


@dataclass
class _Work:
    """What is in hand while the folder is filled."""

    result: Result
    guilty: Guilty
    oracle: Oracle
    folder: Path
    past: Past
    around: Surroundings
    tool: Tool
    environment: Mapping[str, str] | None
    notes: list[str] = field(default_factory=list[str])

    def write(self, place: Path) -> Reproduced:
        sides = print_sides(self.past, self.guilty, self.folder)
        self.notes += sides.notes
        if sides.diff is not None:
            guilty = structs.replace(self.guilty, diff=sides.diff)
            self.result = structs.replace(self.result, guilty=guilty)
        copies = Copies(self.around.cwd or Path.cwd())
        command = make_portable(self.around.argv, copies, self.around.input)
        show = Show(self.folder, self.tool.path, self.oracle, self.around, self.environment)
        known = self._known(command, sides, show)
        judge, way, found = self._find_judge(known, copies, show)
        steps, all_right = show.run(way.steps, judge, self._head(way))
        verified = found and all(each.confirmed for each in steps)
        verified = verified and (all_right or judge.lines is None)
        self._session(command, show)
        report = Report(
            result=self.result,
            tool=self._tool_facts(),
            command=shown(command.args, self.tool.path.name),
            oracle=self.oracle.words(),
            symptom=_symptom(self.oracle),
            good=judge.good,
            way=way.what,
            shown=steps,
            verified=verified,
            notes=self.notes,
            files=self._files(copies, steps),
            texts=self._texts(command, sides),
        )
        self._put(REPORT, markdown_report(report))
        self._put(PAGE, html_report(report))
        lines = [_line(number, each) for number, each in enumerate(steps, 1)]
        return Reproduced(place, verified, way.what, lines, list(self.notes))

    def _judges(self, copies: Copies) -> Iterator[Judge]:
        """Yield the oracle in the shell's words: with copies of what it needs, else in its place.

        Yields:
            After the first, what needs files that are not in the folder.
        """
        yield judge_of(self.oracle, copies)
        if isinstance(self.oracle, TestCommand):
            yield judge_of(self.oracle, copies, copies.base)

    def _known(self, command: Command, sides: Sides, show: Show) -> Known:
        guilty = self.guilty
        return Known(
            command=command,
            tag=guilty.tag,
            nth=guilty.nth or sides.nth,
            first=sides.first,
            pass_name=guilty.pass_name,
            pipeline=guilty.pass_pipeline and normal(guilty.pass_pipeline),
            whole=lambda: show.pipelines(command),
            texts=frozenset(sides.texts),
        )

    def _find_judge(self, known: Known, copies: Copies, show: Show) -> tuple[Judge, Way, bool]:
        """Copy what is needed, and find what can be shown, and by which words of the oracle."""
        first, *others = self._judges(copies)
        for name, path in copies.files.items():
            shutil.copy(path, self.folder / name)
        way, notes = self._find_way(known, first, show)
        for judge in others if way is None else []:
            show.forget()
            there, _ = self._find_way(known, judge, show)
            if there is not None:
                self.notes.append(
                    f"The test works in {str(copies.base)!r} only, so repro.sh runs it there: "
                    "what it needs is not in this folder."
                )
                return judge, there, True
        self.notes += notes
        return first, way or fallback(known), way is not None

    def _find_way(self, known: Known, judge: Judge, show: Show) -> tuple[Way | None, list[str]]:
        """Find the first way that is confirmed, with its confirmed steps.

        Returns:
            The way, or None; and what is to be known of what was tried, a sentence each.
        """
        notes: list[str] = []
        for way in ways(known):
            tried = show.try_steps(way.steps, judge)
            missed = [each for each in tried if not each.confirmed]
            if not any(each.step.essential for each in missed):
                notes += [f"Not in repro.sh: {_outcome(each)}." for each in missed]
                pairs = {each.step.pair for each in missed} - {""}
                left = [each for each in tried if each.confirmed and each.step.pair not in pairs]
                return Way(way.what, [each.step for each in left]), notes
            said = "; ".join(_outcome(each) for each in missed)
            notes.append(f"Tried, but not confirmed: {way.what.rstrip('.')} ({said}).")
        if known.command.source is None:
            notes.append("Which file is the tool's input is not known, so it is not here.")
        return None, notes

    def _head(self, way: Way) -> list[str]:
        entry = self.guilty.entry
        return [f"To blame: {entry.words()}.", f"{way.what}"]

    def _session(self, command: Command, show: Show) -> None:
        """Write the script of our shell, and run it."""
        python = Path(sys.executable)
        line = f"actiondbg -x {SESSION} {shown(command.args, self.tool.path.name)}"
        if command.piped:
            line = line.replace(" -x ", " --batch -x ", 1) + f" < {command.source}"
        self._put(SESSION, session_script(self.result, line))
        done, text = show.session(SESSION, command, str(python))
        if not done or f"#{self.guilty.ordinal}" not in text:
            said = (text.strip().splitlines() or ["it wrote nothing"])[-1]
            self.notes.append(f"{SESSION} was run, and did not come to its end: {said}")

    def _put(self, name: str, text: str) -> None:
        # A name of a file on the command line may be of any bytes.
        (self.folder / name).write_text(text, encoding="utf-8", errors="surrogateescape")

    def _tool_facts(self) -> ToolFacts:
        hello, tool = self.past.hello, self.tool
        return ToolFacts(
            tool.path.name, tool.llvm, tool.build_id, hello.assertions if hello else None
        )

    def _texts(self, command: Command, sides: Sides) -> list[Text]:
        titles = {**_TITLES, **({command.source: "the input"} if command.source else {})}
        found = (
            read_text(self.folder, name, title, name in sides.generic)
            for name, title in titles.items()
        )
        return [text for text in found if text is not None]

    def _files(self, copies: Copies, steps: Sequence[Shown]) -> list[tuple[str, str]]:
        """Return what is in the folder; the IR before the pass is not if nothing needs it."""
        if not any(BEFORE_PASS in each.step.args for each in steps):
            (self.folder / BEFORE_PASS).unlink(missing_ok=True)
        own = {
            REPORT: "this report, to paste into an issue",
            PAGE: "the same, with colours",
            SCRIPT: "shows bad and good with the stock tool alone",
            SESSION: "steps to the action in actiondbg",
            **_TITLES,
        }
        named = {**own, **{name: _role(name) for name in copies.files}}
        made = {REPORT, PAGE}  # in a moment
        return [
            (name, what)
            for name, what in named.items()
            if name in made or (self.folder / name).exists()
        ]


def _role(name: str) -> str:
    return "the input" if name.startswith("input.") else "needed by the tool or the test"


def _symptom(oracle: Oracle) -> str:
    if isinstance(oracle, Crash):
        return "crash"
    if isinstance(oracle, Verify):
        return "invalid IR"
    return "diagnostic" if isinstance(oracle, Diagnostic) else "wrong output"


def _outcome(each: Shown) -> str:
    return f"{each.step.title} is judged {each.verdict}, not {each.step.wanted}"


def _line(number: int, each: Shown) -> str:
    return f"{number}. {each.verdict}, expected {each.step.wanted}: {each.step.title}"
