"""Write a reproducer that needs the stock tool alone.

Everything in it that can be run is run in the folder first, and the results are reported.
"""

from __future__ import annotations

import contextlib
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from msgspec import structs

from actiondbg import protocol
from actiondbg.analysis.textual_pipelines import normalize_pipeline
from actiondbg.bisection.copied_files import CopiedFiles
from actiondbg.bisection.folder import FolderFile
from actiondbg.bisection.frozen_tool import FrozenTool
from actiondbg.bisection.oracles import Command as TestCommand
from actiondbg.bisection.oracles import Oracle, OracleSetup, ShellJudge
from actiondbg.bisection.plain_runs import PlainVerdicts
from actiondbg.bisection.reproducer.run import ReproducerRun, StepResult, find_in_schedule
from actiondbg.bisection.reproducer.scripts import (
    UNJUDGED,
    ScriptStep,
    session_script,
    skip_rules,
)
from actiondbg.bisection.reproducer.strategies import (
    StrategyFacts,
    command_text,
    fallback_strategy,
    located_command,
    make_portable,
    skipping_strategy,
    strategies,
)
from actiondbg.bisection.result import Culprit, Result
from actiondbg.bisection.verdict_store import VerdictStore
from actiondbg.errors import ActiondbgError, ToolGone
from actiondbg.ir.diff import Diff, make_diff
from actiondbg.process.action_diff import print_named
from actiondbg.process.forked_tool import ForkedTool
from actiondbg.protocol.tags import FOLD_TAG, PATTERN_TAG, STEP_TAG
from actiondbg.session.skip_plan import Head, write_skips
from actiondbg.support.counts import times
from actiondbg.tool import Tool

_SCRATCH = "named"  # a temporary file in the folder


class IRSnapshots:
    """The IR before and after the culprit, and before its pass, in files.

    The constructor replays the run, and writes the files.

    Args:
        run: the run that the culprit's stack was taken from.

    Attributes:
        names: of the files that were written.
        generic: names of the files in generic form, because their IR is invalid.
        nth: the culprit's number among the actions of its tag, from 1; None if not known.
        diff: only for a fold: includes the replacement that the driver makes after it.
        first: the number of the first pattern application in the pass; None if not known.
        notes: what failed, one sentence each.
    """

    def __init__(self, run: FrozenTool, culprit: Culprit, folder: Path) -> None:
        self.names = set[str]()
        self.generic = set[str]()
        self.nth: int | None = None
        self.diff: Diff | None = None
        self.first: int | None = None
        self.notes: list[str] = []
        self._run = run
        self._folder = folder
        self._ordinal = culprit.stack[0].ordinal if culprit.stack else culprit.ordinal
        if culprit.tag == FOLD_TAG:
            self._attempt("The IR before and after the fold", self._take_fold)
        else:
            self._attempt("The IR before the action", self._take_before)
            self._attempt("The IR after the action", self._take_after)
        start = culprit.pass_ordinal
        if start is not None and start != self._ordinal:
            self._attempt("The IR before the pass", lambda: self._take_before_pass(start))

    def _attempt(self, what: str, take: Callable[[], None]) -> None:
        try:
            take()
        except ActiondbgError as error:
            self.notes.append(f"{what} could not be printed: {error}")

    def _take_before(self) -> None:
        with self._run.replay(self._ordinal) as fork:
            self.nth = fork.stop.nth if fork.stop else None
            self._print(fork, FolderFile.BEFORE)

    def _take_after(self) -> None:
        try:
            fork = self._run.replay(self._ordinal, "after")
        except ToolGone:
            self.notes.append("There is no IR after the action, because the tool ended in it.")
            return
        with fork:
            self._print(fork, FolderFile.AFTER)

    def _take_fold(self) -> None:
        """Print the IR before and after a fold.

        A fold only returns the replacement; the driver has replaced the operation by the next
        event. Both texts come from one fork, because the keys of values differ between processes.
        """
        with self._run.replay(self._ordinal) as fork:
            self.nth = fork.stop.nth if fork.stop else None
            self._print(fork, FolderFile.BEFORE)
            before = print_named(fork, None, self._folder / _SCRATCH)
            fork.resume("next")
            fork.resume("step")
            self._print(fork, FolderFile.AFTER)
            after = print_named(fork, None, self._folder / _SCRATCH)
        if before.generic == after.generic:
            diff = make_diff(before.text, after.text, before.names, after.names)
            title = f"#{self._ordinal} fold and its replacement"
            self.diff = structs.replace(diff, ordinal=self._ordinal, title=title)

    def _take_before_pass(self, start: int) -> None:
        with self._run.replay(start) as fork:
            self._print(fork, FolderFile.BEFORE_PASS)
            with contextlib.suppress(ActiondbgError):
                until = protocol.Until(terms=[protocol.Term(kind="tag", glob=PATTERN_TAG)])
                self.first = fork.resume("apply", until=until).nth

    def _print(self, fork: ForkedTool, name: str) -> None:
        printed = fork.request(protocol.Print(what="module", path=str(self._folder / name)))
        self.names.add(name)
        if printed.generic:
            self.generic.add(name)


# --- the folder ---


_TITLES = {
    FolderFile.BEFORE: "the module just before the action",
    FolderFile.AFTER: "the module just after the action",
    FolderFile.BEFORE_PASS: "the module before its pass",
}


@dataclass(frozen=True)
class Reproducer:
    """A reproducer that was written and run.

    Args:
        result: of the bisection, with a culprit; the diff of a fold includes the replacement.
        command: the tool's command line in the folder.
        good: describes a good output, a phrase.
        strategy: what the reproducer shows, one sentence.
        steps: the results of its steps.
        is_confirmed: whether these are good and bad as expected.
        judges: whether the script judges the outputs; else actiondbg alone has judged them.
        notes: one sentence each.
        files: names and descriptions of the files in the folder.
        ir: names and titles of the files of IR.
        generic: names of the files of IR in generic form.
        judged: how often an output was judged.
        needs_actiondbg: whether the script needs actiondbg, to run the tool or to judge.
    """

    result: Result
    command: str
    good: str
    strategy: str
    steps: Sequence[StepResult]
    is_confirmed: bool
    judges: bool
    notes: Sequence[str]
    files: Sequence[tuple[str, str]]
    ir: Mapping[str, str]
    generic: frozenset[str]
    judged: int
    needs_actiondbg: bool = False

    @property
    def verified(self) -> bool:
        """Whether the script shows good and bad by itself."""
        return self.is_confirmed and self.judges


@dataclass(frozen=True)
class _Chosen:
    """The strategy of the reproducer.

    Args:
        sentence: what the steps show.
        results: its steps, with their verdicts.
        is_confirmed: whether these are as expected.
    """

    sentence: str
    results: Sequence[StepResult]
    is_confirmed: bool = True


@dataclass
class ReproducerWriter:
    """Writes a reproducer into a folder.

    Args:
        oracle: judged the outputs; prepared with ``setup``.
        folder: an empty folder.
        run: the run that the ordinals of the culprit's stack belong to.
        environment: the tool's; None for this process's.
        jobs: how many outputs are judged at a time.
    """

    result: Result
    culprit: Culprit
    oracle: Oracle
    folder: Path
    run: FrozenTool
    setup: OracleSetup
    tool: Tool
    environment: Mapping[str, str] | None
    verdicts: VerdictStore
    jobs: int = 1

    def __post_init__(self) -> None:
        self._notes: list[str] = []
        self._failures: list[str] = []
        self._schedules: dict[str, str] = {}
        base = self.setup.cwd or Path.cwd()
        self._copies = CopiedFiles(base, input=self.setup.input)
        if self.tool.libmlir is None:
            self._command = located_command(self.setup.argv, base)
        else:
            self._command = make_portable(self.setup.argv, self._copies, self.setup.input)
        self._reproducer_run = ReproducerRun(
            self.folder,
            self.tool.path,
            self.oracle,
            self.setup,
            self.environment,
            self.verdicts,
            self.jobs,
            self._command.base,
        )

    def write(self) -> Reproducer:
        """Write the folder; raises OSError if a file cannot be written."""
        snapshots = IRSnapshots(self.run, self.culprit, self.folder)
        self._notes += snapshots.notes
        result = self.result
        if snapshots.diff is not None:
            culprit = structs.replace(self.culprit, diff=snapshots.diff)
            result = structs.replace(result, culprit=culprit)
        judges = list(self._shell_judges())
        for name, path in self._copies.files.items():
            shutil.copy(path, self.folder / name)
        try:
            self._write_skips(result)
            session = self._start_session_script(result)
            facts = self._facts(snapshots)
            judge, chosen = self._choose(facts, judges)
            chosen = self._with_schedule(facts, judge, chosen)
            self._check_session_script(*session())
        finally:
            self._reproducer_run.close()
        if result.mode == "minimize" and not any(each.step.skips for each in chosen.results):
            (self.folder / FolderFile.SKIPS).unlink(missing_ok=True)  # not known to be good
        head = [f"Culprit: {self.culprit.entry.describe()}.", chosen.sentence]
        if judge.lines is None:
            self._notes.append(
                f"No shell command judges as {self.oracle.as_option()} does: repro.sh runs the "
                f"tool, leaves the outputs unjudged, and ends with status {UNJUDGED}."
            )
        self._reproducer_run.write([each.step for each in chosen.results], judge, head)
        needs_actiondbg = self.oracle.needs_actiondbg or any(
            each.step.skips for each in chosen.results
        )
        return Reproducer(
            result=result,
            command=command_text(self._command.args, self.tool.path.name),
            good=judge.good,
            strategy=chosen.sentence,
            steps=chosen.results,
            is_confirmed=chosen.is_confirmed,
            judges=judge.lines is not None,
            notes=self._notes,
            files=self._files(chosen.results, judge, needs_actiondbg),
            ir=self._ir_titles(),
            generic=frozenset(snapshots.generic),
            judged=self._reproducer_run.judged,
            needs_actiondbg=needs_actiondbg,
        )

    def _facts(self, snapshots: IRSnapshots) -> StrategyFacts:
        culprit = self.culprit
        pipeline = culprit.pass_pipeline
        return StrategyFacts(
            command=self._command,
            tag=culprit.tag,
            nth=culprit.nth or snapshots.nth,
            first=snapshots.first,
            pass_name=culprit.pass_name,
            pipeline=pipeline and normalize_pipeline(pipeline),
            whole_pipelines=lambda: self._reproducer_run.pipelines(self._command),
            snapshots=frozenset(snapshots.names),
        )

    def _shell_judges(self) -> Iterator[ShellJudge]:
        """Yield the oracle as shell commands that use the copied files, then the original ones."""
        yield self.oracle.in_shell(self._copies)
        if isinstance(self.oracle, TestCommand):
            yield self.oracle.in_shell(self._copies, self._copies.base)

    def _choose(
        self, facts: StrategyFacts, judges: Sequence[ShellJudge]
    ) -> tuple[ShellJudge, _Chosen]:
        """Choose the first judge and strategy that are confirmed.

        Where the bug depends on addresses, runs with fixed ones may not show it: then each run is
        repeated with random ones.
        """
        if self.tool.libmlir is None:
            self._notes.append(
                "The tool is a program, of which no part can be run alone: session.adb shows the "
                "culprit in a session."
            )
            if facts.pass_input in facts.snapshots and facts.pipeline is not None:
                self._notes.append(
                    f"{facts.pass_input} has the IR before {facts.pass_name}. An opt tool of the "
                    "same build, such as triton-opt for Triton, runs that pass alone with "
                    f"--pass-pipeline={shlex.quote(facts.pipeline)}."
                )
            return judges[-1], self._with_skips(facts, judges[-1])
        found: tuple[ShellJudge, _Chosen] | None = None
        if not self.result.layout:
            found = self._choose_with_fixed_addresses(facts, judges)
        result = self.result
        plain = PlainVerdicts(result.plain_bad, result.plain_runs, result.plain_outputs)
        if found is None and (result.layout or not plain.is_the_same or not self._is_shown(facts)):
            self._reproducer_run.tries = plain.tries
        elif found is not None and plain.runs and not plain.is_the_same:
            self._notes.append("repro.sh runs the tool with fixed addresses (setarch -R).")
        if self._reproducer_run.tries > 1:
            found = self._choose_with_random_addresses(facts, judges)
        if found is not None:
            return found
        self._notes += self._failures
        return judges[0], self._with_skips(facts, judges[0])

    def _is_shown(self, facts: StrategyFacts) -> bool:
        """Whether the command as it is was tried with fixed addresses, and bad."""
        tried = self._reproducer_run.tried(fallback_strategy(facts).steps)
        return all(each.confirmed for each in tried)

    def _with_skips(self, facts: StrategyFacts, judge: ShellJudge) -> _Chosen:
        """Show the command as it is, and with skips by actiondbg, where no other run is good."""
        as_it_is = fallback_strategy(facts)
        skipping = skipping_strategy(facts)
        is_known = (self.folder / FolderFile.SKIPS).exists() and not self.result.layout
        if is_known and self._reproducer_run.tries == 1:
            results = self._reproducer_run.try_steps(skipping.steps, judge)
            if all(each.confirmed for each in results):
                return _Chosen(skipping.sentence, results)
            self._notes += [f"Not in repro.sh: {_difference(each)}." for each in results[1:]]
        results = self._reproducer_run.try_steps(as_it_is.steps, judge)
        return _Chosen(as_it_is.sentence, results, is_confirmed=False)

    def _choose_with_fixed_addresses(
        self, facts: StrategyFacts, judges: Sequence[ShellJudge]
    ) -> tuple[ShellJudge, _Chosen] | None:
        first, *others = judges
        knows = not self.oracle.is_event and self._is_portable()
        chosen = self._known_strategy(facts) if knows else None
        if chosen is None:
            chosen, self._failures = self._confirmed_strategy(facts, first, knows)
        if chosen is not None:
            return first, chosen
        for judge in others:
            self._reproducer_run.forget_verdicts()
            chosen, _ = self._confirmed_strategy(facts, judge, knows=False)
            if chosen is not None:
                self._notes.append(
                    f"The test works only in {str(self._copies.base)!r}, so repro.sh runs it "
                    "there: this folder lacks the files that it needs."
                )
                return judge, chosen
        return None

    def _choose_with_random_addresses(
        self, facts: StrategyFacts, judges: Sequence[ShellJudge]
    ) -> tuple[ShellJudge, _Chosen] | None:
        facts = replace(facts, randomize=True)
        as_it_is = fallback_strategy(facts).steps
        for judge in judges:
            self._reproducer_run.forget_verdicts()
            tried = self._reproducer_run.try_steps(as_it_is, judge)
            if not all(each.confirmed for each in tried):
                self._failures = [
                    f"Tried {times(self._reproducer_run.tries)} with random addresses, "
                    "and not bad: the command as it is."
                ]
                continue
            chosen, self._failures = self._confirmed_strategy(facts, judge, knows=False)
            if chosen is not None:
                self._notes.append(
                    f"repro.sh repeats each run up to {times(self._reproducer_run.tries)} with "
                    "random addresses, as the plain tool does not show the bug with fixed ones."
                )
                return judge, chosen
        return None

    def _with_schedule(self, facts: StrategyFacts, judge: ShellJudge, chosen: _Chosen) -> _Chosen:
        """Add the runs that show the culprit in the schedule that its pass interprets."""
        shown = (each.step for each in chosen.results if facts.pass_input in each.step.args)
        bad = next((step for step in shown if step.expected == "bad"), None)
        is_of_schedule = facts.is_pass or facts.tag == STEP_TAG
        is_single = is_of_schedule and self.result.mode == "first" and chosen.is_confirmed
        if not is_single or bad is None or facts.pipeline is None:
            return chosen

        def try_step(step: ScriptStep) -> StepResult:
            return self._reproducer_run.try_steps([step], judge)[0]

        found = find_in_schedule(self.folder, facts.pass_input, facts.pipeline, bad, try_step)
        if found is None:
            return chosen
        self._notes.append(found.sentence)
        self._schedules = found.files
        return replace(
            chosen,
            sentence=f"{chosen.sentence} {found.sentence}",
            results=[*chosen.results, *found.results],
        )

    def _is_portable(self) -> bool:
        """Whether the oracle judges in the folder as it did in its place."""
        if not isinstance(self.oracle, TestCommand):
            return True
        return self._copies.has_all_of(self.oracle.command)

    def _known_strategy(self, facts: StrategyFacts) -> _Chosen | None:
        """Find the first strategy whose outputs were judged in trials, and are as expected."""
        for strategy in strategies(facts):
            essential = [step for step in strategy.steps if step.essential]
            verdicts = self._reproducer_run.known_verdicts(essential)
            expected = [step.expected for step in essential]
            if strategy.runs_pass and verdicts == expected:
                # Counted runs in the pass have outputs of no trial, or there is a better strategy.
                shown = [step for step in strategy.steps if not step.pair]
                verdicts = self._reproducer_run.known_verdicts(shown)
                steps = zip(shown, verdicts, strict=True)
                results = [StepResult(step, verdict) for step, verdict in steps if verdict]
                return _Chosen(strategy.sentence, _confirmed(results))
        return None

    def _confirmed_strategy(
        self, facts: StrategyFacts, judge: ShellJudge, knows: bool
    ) -> tuple[_Chosen | None, list[str]]:
        """Find the first strategy whose essential steps are confirmed.

        Args:
            knows: whether outputs that trials had need not be judged again.

        Returns:
            The strategy with its confirmed steps, or None; and notes on the failed attempts.
        """
        notes: list[str] = []
        for strategy in strategies(facts):
            tried = self._try_steps(strategy.steps, judge, knows)
            missed = [each for each in tried if not each.confirmed]
            if not any(each.step.essential for each in missed):
                self._notes += notes
                self._notes += [f"Not in repro.sh: {_difference(each)}." for each in missed]
                return _Chosen(strategy.sentence, _confirmed(tried)), []
            differences = "; ".join(_difference(each) for each in missed)
            sentence = strategy.sentence.rstrip(".")
            notes.append(f"Tried, but not confirmed: {sentence} ({differences}).")
        if facts.command.source is None:
            notes.append("The tool's input is not known, so it is not in this folder.")
        return None, notes

    def _try_steps(
        self, steps: Sequence[ScriptStep], judge: ShellJudge, knows: bool
    ) -> list[StepResult]:
        """Run and judge steps; if verdicts of trials are known, only the essential unknown ones."""
        if not knows:
            return self._reproducer_run.try_steps(steps, judge)
        verdicts = self._reproducer_run.known_verdicts(steps)
        known = list(zip(steps, verdicts, strict=True))
        if any(verdict not in (None, step.expected) for step, verdict in known if step.essential):
            return [StepResult(step, verdict) for step, verdict in known if verdict]
        unknown = [step for step, verdict in known if verdict is None and step.essential]
        judged = self._reproducer_run.try_steps(unknown, judge) if unknown else []
        found = {each.step.key: each for each in judged}
        return [
            found.get(step.key) or StepResult(step, verdict or "untestable")
            for step, verdict in known
            if verdict or step.key in found
        ]

    def _start_session_script(self, result: Result) -> Callable[[], tuple[bool, str]]:
        """Write the script for actiondbg's shell, and start it."""
        command = self._command
        name = FolderFile.SESSION
        line = f"actiondbg -x {name} {command_text(command.args, self.tool.path.name)}"
        if command.piped:
            line = line.replace(" -x ", " --batch -x ", 1) + f" < {command.source}"
        if command.base is not None:
            line = f"cd {shlex.quote(str(command.base))}; {line.replace(name, '.../' + name)}"
        # A file name on the command line may hold any bytes.
        (self.folder / name).write_text(
            session_script(result, line), encoding="utf-8", errors="surrogateescape"
        )
        return self._reproducer_run.start_session(name, command, sys.executable)

    def _check_session_script(self, succeeded: bool, text: str) -> None:
        """Add a note if the script failed, or did not go to the culprit."""
        if not succeeded or f"#{self.culprit.ordinal}" not in text:
            last = (text.strip().splitlines() or ["it wrote nothing"])[-1]
            self._notes.append(f"{FolderFile.SESSION} was run and failed: {last}")

    def _write_skips(self, result: Result) -> None:
        """Write the skips that make the output good, for ``load skips``."""
        rules = skip_rules(result)
        argv = [self.tool.path.name, *self._command.args]
        head = Head(tool=str(self.tool.path), argv=argv, build=self.tool.build_id)
        if rules:
            write_skips(self.folder / FolderFile.SKIPS, head, [], rules)

    def _ir_titles(self) -> dict[str, str]:
        source = self._command.source
        return {**_TITLES, **self._schedules, **({source: "the input"} if source else {})}

    def _files(
        self, steps: Sequence[StepResult], judge: ShellJudge, needs_actiondbg: bool
    ) -> list[tuple[str, str]]:
        """Return the files in the folder; remove the IR before the pass if no step needs it."""
        needs = ", and needs actiondbg" if needs_actiondbg else " with the stock tool alone"
        does = "makes the outputs" if judge.lines is None else "shows bad and good"
        is_shown = any(FolderFile.BEFORE_PASS in each.step.args for each in steps)
        if not is_shown and self.tool.libmlir is not None:
            (self.folder / FolderFile.BEFORE_PASS).unlink(missing_ok=True)
        files = {
            FolderFile.SCRIPT: f"{does}{needs}",
            FolderFile.SESSION: "steps to the action in actiondbg",
            FolderFile.SKIPS: "skips the action in actiondbg",
            **_TITLES,
            **self._schedules,
            **dict.fromkeys(self._copies.files, "needed by the tool or the test"),
            **({self._copies.source: "the input"} if self._copies.source else {}),
        }
        return [(name, what) for name, what in files.items() if (self.folder / name).exists()]


def _confirmed(results: Sequence[StepResult]) -> list[StepResult]:
    """Return the confirmed results, and of each pair of steps all or none."""
    missed = {each.step.pair for each in results if not each.confirmed} - {""}
    return [each for each in results if each.confirmed and each.step.pair not in missed]


def _difference(each: StepResult) -> str:
    return f"{each.step.title} is judged {each.verdict}, not {each.step.expected}"
