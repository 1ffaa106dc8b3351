"""The validation of a run: the ends of its passes, then the inside of the first guilty one."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from actiondbg.comparison.side import Side, recorded_side, run_side
from actiondbg.errors import ActiondbgError, UsageError
from actiondbg.ir.tree.outline import operations_in, outermost
from actiondbg.protocol.tags import CONVERSION_TAG, ITERATION_TAG, PASS_TAG, PATTERN_TAG
from actiondbg.support.atomic_write import made_folder, write_whole
from actiondbg.support.counts import as_texts, counted, joined
from actiondbg.support.globs import check_glob, glob_matches
from actiondbg.support.scratch_directory import scratch_directory
from actiondbg.tool.discovery import find_tool
from actiondbg.validation.function_judgement import (
    SECONDS,
    Equivalence,
    FunctionJudgement,
    JudgementLimits,
    Query,
    worst,
)
from actiondbg.validation.narrowing import Narrowed, narrow
from actiondbg.validation.steps import Rerun, Steps, ValidationStep
from actiondbg.validation.workers import Numbered, Workers

if TYPE_CHECKING:
    from actiondbg.recording.recording import Recording


# Actions in a pattern are a part of it. Those in a conversion take effect at its end.
_WHOLE = (PATTERN_TAG, CONVERSION_TAG)
_NAMELESS = (CONVERSION_TAG, ITERATION_TAG)
_MOST_TIMES = 18  # as long as the passes, for their ends; with the recording, 20 times the tool
_SHORT_RUN = 0.35  # seconds; the shorter a run is, the more of it is the start of the tool
_LEAST_TOTAL = 24.0  # seconds for the ends of all passes in the shortest run
_LEAST_EACH = 1.0  # seconds for the end of a pass in it
_LEAST_SECONDS = 0.2  # for a step
_NARROWING_SECONDS = 20.0
_MOST_NAMED = 8  # functions in a message
_TOOL_OF_IMPORTS = "mlir-opt"  # for real runs: imported logs have no command line


@dataclass(frozen=True, slots=True)
class JudgedStep:
    """An action with what was found out about it.

    Args:
        step: the action.
        functions: the judgement of each function that it changed.
        judged_in: the action around it that was judged, of which it is the only one that is not
            equivalent, or that changed the function; None if it was judged itself.
    """

    step: ValidationStep
    functions: tuple[FunctionJudgement, ...]
    judged_in: ValidationStep | None = None

    @property
    def verdict(self) -> Equivalence:
        """Return "different" if any function is, else "unknown" if any is."""
        return worst({each.verdict for each in self.functions})

    def without(self, doubted: set[str]) -> JudgedStep:
        """Return the step with what differs in some functions as unknown."""
        functions = (
            replace(each, verdict="unknown", is_doubted=True)
            if each.verdict == "different" and each.symbol in doubted
            else each
            for each in self.functions
        )
        return replace(self, functions=tuple(functions))

    def of(self, verdict: Equivalence) -> list[FunctionJudgement]:
        """Return the judgements with a verdict."""
        return [each for each in self.functions if each.verdict == verdict]


@dataclass(slots=True)
class Validation:
    """What is known of a run.

    Attributes:
        status: of the tool; None if it is unknown.
        cut: a sentence about the part that the recording lacks; None if it is whole.
        passes: its changing passes, judged from the first.
        inside: the actions that were judged in passes that are different, or unknown.
        culprit: the innermost first action that is different; None if none is.
        texts: the IR before and after the culprit, or the action that it was judged in.
        nests: the loops and the like that a culprit changed that is a pass: the operation, its file
            and its line.
        narrowed: the smallest program on which a culprit that is a pass shows its fault.
        unjudged: the number of actions that the budget, or Ctrl-C, left out: those in passes count
            only if a pass is not equivalent.
        left_out: the number of functions of the run that were not chosen.
        is_interrupted: whether Ctrl-C ended it.
    """

    status: int | None
    cut: str | None = None
    passes: list[JudgedStep] = field(default_factory=list[JudgedStep])
    inside: list[JudgedStep] = field(default_factory=list[JudgedStep])
    culprit: JudgedStep | None = None
    texts: Query | None = None
    nests: list[tuple[str, str, int]] = field(default_factory=list[tuple[str, str, int]])
    narrowed: Narrowed | None = None
    unjudged: int = 0
    left_out: int = 0
    is_interrupted: bool = False

    @property
    def verdict(self) -> Equivalence:
        """Return "different" if an action is, else "unknown" if one is, or if one is missing."""
        if self.culprit is not None:
            return "different"
        verdicts = {each.verdict for each in self.passes}
        is_whole = not self.unjudged and not self.status and self.cut is None
        return "equivalent" if is_whole and "unknown" not in verdicts else "unknown"

    @property
    def first_unknown(self) -> JudgedStep | None:
        """The first pass that is not known, before the culprit."""
        return next((each for each in self.passes if each.verdict == "unknown"), None)


Stage = Literal["tool", "passes", "run", "actions", "programs"]
# Is told how many of the steps of a stage are judged; of runs and of programs, nothing.
Progress = Callable[[Stage, int, int], None]


def _ignore(*_: object) -> None:
    """Tell nothing."""


@dataclass
class Validator:
    """Validates the actions of a recorded run.

    Attributes:
        steps: the changing actions.
        result: so far, also after Ctrl-C.
    """

    side: Side  # the run, with the IR of functions around all actions, or around passes
    workers: Workers  # judge
    _: KW_ONLY
    rerun: Rerun | None = None  # records the IR inside a pass, for a run with the IR around passes
    limits: JudgementLimits = field(default_factory=JudgementLimits)  # of each judgement
    # Whether the ends of all passes are judged in a multiple of the run, see the page of validate:
    # each has its share.
    is_fair: bool = True
    budget: float = 120.0  # seconds for the actions in passes
    progress: Progress = _ignore  # is told
    # By the digest of the query.
    _known: dict[bytes, tuple[FunctionJudgement, ...]] = field(
        default_factory=dict[bytes, tuple[FunctionJudgement, ...]]
    )

    def __post_init__(self) -> None:
        self.steps = Steps(self.side.recording, self.rerun)
        self.result = Validation(
            self.side.status, self.side.recording.cut, left_out=self._left_out()
        )

    def _left_out(self) -> int:
        """Return the number of functions that are not chosen.

        Raises:
            UsageError: a glob chooses none.
        """
        names = _functions(self.side.recording) if self.limits.func else set[str]()
        for glob in self.limits.func:
            if names and not any(glob_matches(glob, name) for name in names):
                some = joined(sorted(names)[:_MOST_NAMED])
                known = some if len(names) <= _MOST_NAMED else f"{len(names):,}, such as {some}"
                raise UsageError(f"No function of the run matches {glob!r}: there are {known}.")
        return sum(not self.limits.chooses(name) for name in names)

    def _chosen(self, steps: Sequence[ValidationStep]) -> list[ValidationStep]:
        """Return the steps that may change a chosen function."""
        chooses = self.limits.chooses
        return [each for each in steps if each.function is None or chooses(each.function)]

    def validate(self) -> Validation:
        """Judge the passes, and the actions in the first that is not equivalent."""
        try:
            self._validate()
        except KeyboardInterrupt:
            self.result.is_interrupted = True
        return self.result

    def _validate(self) -> None:
        passes = self._chosen(self.steps.passes)
        self.result.unjudged = len(passes)
        limit = _Limit()
        if self.is_fair:
            limit.end = time.monotonic() + _fair_seconds(self.steps.run_seconds, len(passes))
        for judged in self._judged("passes", passes, limit):
            if judged.functions or not self.limits.func:
                self.result.passes.append(judged)
            self.result.unjudged -= 1
        self.result.passes.sort(key=lambda each: each.step.ordinal)
        end = time.monotonic() + self.budget
        guilty = [each for each in self.result.passes if each.verdict == "different"]
        unknown = [each for each in self.result.passes if each.verdict == "unknown"]
        for judged in (*guilty[:1], *unknown):
            found = self._culprit(judged, end)
            if found is not None:
                self.result.culprit = found
                self._examine(found, end)
                return

    def _examine(self, culprit: JudgedStep, end: float) -> None:
        """Add to the result what is known of the culprit."""
        step = culprit.judged_in or culprit.step
        self.result.texts = next(self.steps.queries(step), None)
        if not step.is_pass or self.result.texts is None:
            return
        self.result.nests = self.steps.nest_lines(step, culprit.of("different")[0])
        if self.limits.tool and self.limits.scratch:
            self.progress("programs", 0, 0)
            self.result.narrowed = narrow(
                self.side.argv,
                step,
                self.result.texts,
                limits=self.limits,
                folder=Path(self.limits.scratch) / "narrowed",
                seconds=min(max(end - time.monotonic(), 1.0), _NARROWING_SECONDS),
            )

    def _culprit(self, judged: JudgedStep, end: float) -> JudgedStep | None:
        """Return the innermost first different action in one, or itself if it is different."""
        around = [judged]
        inner: list[JudgedStep] = []
        doubted = {each.symbol for each in judged.functions if each.is_doubted}
        while around[-1].step.tag not in _WHOLE:
            inner = self._inner(around[-1].step, end, doubted)
            different = (each for each in inner if each.verdict == "different")
            found = min(different, key=lambda each: each.step.ordinal, default=None)
            if found is None:
                break
            around.append(found)
        last = around[-1]
        if last.verdict != "different":
            return None
        return self._named(around, inner) if last.step.tag in _NAMELESS else last

    def _named(self, around: list[JudgedStep], inner: list[JudgedStep]) -> JudgedStep:
        """Return what is guilty of a difference in an action without a subject.

        It is the only action in it that can be, or else the pass around it.
        """
        last = around[-1]
        actions = self.steps.inside(last.step)
        if last.step.tag == CONVERSION_TAG:
            functions = {each.symbol for each in last.of("different")}
            # A function that is not chosen may be called by one that is.
            actions = [
                each
                for each in actions
                if each.function in functions or not self.limits.chooses(each.function or "")
            ]
        elif len(inner) == len(actions):
            actions = [each.step for each in inner if each.verdict == "unknown"]
        if len(actions) == 1:
            return JudgedStep(actions[0], last.functions, last.step)
        passes = (each for each in reversed(around) if each.step.is_pass)
        return next((each for each in passes if each.verdict == "different"), last)

    def _inner(self, step: ValidationStep, end: float, doubted: set[str]) -> list[JudgedStep]:
        """Judge the actions directly in one, up to the first different one.

        A difference of a function whose callers all stay the same after the pass proves nothing.
        """
        self.progress("run", 0, 0)
        self.result.unjudged += self.steps.look_into(step, max(end - time.monotonic(), 0.0))
        steps = self._chosen(self.steps.inside(step))
        limit = _Limit(end)
        judged: list[JudgedStep] = []
        for each in self._judged("actions", steps, limit):
            each = each.without(doubted)
            judged.append(each)
            if each.verdict == "different":
                limit.last = min(limit.last, each.step.ordinal)
        # Which later ones were judged beside it is a matter of time.
        judged = [each for each in judged if each.step.ordinal <= limit.last]
        judged.sort(key=lambda each: each.step.ordinal)
        self.result.inside += judged
        wanted = sum(each.ordinal <= limit.last for each in steps)
        self.result.unjudged += wanted - len(judged)
        return judged

    def _judged(
        self, stage: Stage, steps: Sequence[ValidationStep], limit: _Limit
    ) -> Iterator[JudgedStep]:
        """Yield steps with their judgements, as they come."""
        open_steps: dict[int, _OpenStep] = {}
        done = 0

        def wanted() -> Iterator[Numbered]:
            weight_left = sum(each.weight for each in steps)
            for step in steps:
                if not limit.allows(step):
                    return
                seconds = limit.share(step.weight / weight_left, self.workers.count)
                weight_left -= step.weight
                queries = [
                    each
                    for each in self.steps.queries(step)
                    if not each.symbol or self.limits.chooses(each.symbol)
                ]
                unknown = [query for query in queries if query.digest not in self._known]
                found = [each for query in queries for each in self._known.get(query.digest, ())]
                open_steps[step.ordinal] = _OpenStep(step, len(unknown), found)
                if unknown:
                    for query in unknown:
                        most = self.limits.seconds_for(query)
                        yield Numbered(step.ordinal, query, min(seconds / len(unknown), most))
                else:
                    ready.append(step.ordinal)

        ready: list[int] = []
        self.progress(stage, 0, len(steps))
        for (ordinal, query, _), found in self.workers.answers(wanted(), self.limits, limit.end):
            self._known[query.digest] = found
            one = open_steps[ordinal]
            one.found += found
            one.missing -= 1
            if not one.missing:
                ready.append(ordinal)
            for finished in ready:
                done += 1
                self.progress(stage, done, len(steps))
                yield open_steps.pop(finished).judged
            ready.clear()
        for finished in ready:
            yield open_steps.pop(finished).judged


@dataclass(slots=True)
class _Limit:
    """Which steps are still judged."""

    end: float = float("inf")  # the time at which none is
    last: float = float("inf")  # the ordinal after which none is

    def allows(self, step: ValidationStep) -> bool:
        return step.ordinal <= self.last and time.monotonic() < self.end

    def share(self, part: float, jobs: int) -> float:
        """Return the seconds for the judgement of a step; the reading of its IR takes as long.

        The part is that of the weight of all steps that are left.
        """
        left = self.end - time.monotonic()
        return max(min(left * jobs * part, left) / 2, _LEAST_SECONDS)


@dataclass(slots=True)
class _OpenStep:
    """A step of which answers are missing."""

    step: ValidationStep
    missing: int
    found: list[FunctionJudgement]

    @property
    def judged(self) -> JudgedStep:
        return JudgedStep(self.step, tuple(self.found))


def _fair_seconds(run_seconds: float, passes: int) -> float:
    """Return the seconds for the ends of all passes: a multiple of the run, more of a short one.

    A network is judged in 20 times its compilation, with the recording.
    """
    least = max(_LEAST_TOTAL, _LEAST_EACH * passes)
    return max(least * (1 - run_seconds / _SHORT_RUN), _MOST_TIMES * run_seconds)


def validate(
    target: Sequence[str] | os.PathLike[str],
    *,
    func: Sequence[str] = (),
    timeout: float | None = None,
    inputs: int = 48,
    aliased: bool = False,
    any_index: bool = False,
    budget: float = 120.0,
    jobs: int = os.cpu_count() or 1,
    stdin: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
    warn: Callable[[str], None] | None = None,
) -> Validation:
    """Judge for each action of a run whether the program still does the same.

    Args:
        target: the command line of a tool, which is run, and the file of whose ``-o`` is not
            written; or the path of a recording with the IR of functions.
        func: globs of the functions to judge; none for all.
        timeout: seconds for a function before and after an action; by default 20, and less in a
            long run.
        inputs: run each function on so many inputs.
        aliased: memref arguments of a type may overlap.
        any_index: arguments of type index may need more than 32 bits.
        budget: seconds for the actions in passes that are not equivalent.
        jobs: processes that judge.
        stdin: the file on the tool's standard input; None for none.
        progress: is told the stage, and how many of its steps are judged, of how many.
        warn: is told in a sentence each what of the run is not there to judge.

    Raises:
        ActiondbgError: the tool makes no MLIR context, or the recording lacks the IR of functions.
        UsageError: a glob is not valid, or matches no function of the run.
        LaunchError: the tool cannot be started.
        KeyboardInterrupt: Ctrl-C ended the tool. Later, it ends the validation, and what is known
            is returned.
    """
    progress, warn = progress or _ignore, warn or _ignore
    func = as_texts(func)
    for glob in func:
        check_glob(glob, glob, 0)
    with scratch_directory("validate") as folder, Workers(jobs) as workers:
        workers.start()
        run = None
        if isinstance(target, str | os.PathLike):
            side = _recorded(os.fspath(target))
        else:
            run = ToolRun(target, folder, stdin, warn)
            progress("tool", 0, 0)
            side = run.passes()
        if side.recording.cut is not None:
            warn(side.recording.cut)
        if run is not None and side.status:
            _check_failed(side, warn)
        limits = JudgementLimits(
            tool=_path_of(side.argv[0] if side.argv else _TOOL_OF_IMPORTS),
            scratch=str(folder),
            inputs=inputs,
            seconds=timeout or SECONDS,
            aliased=aliased,
            any_index=any_index,
            func=tuple(func),
        )
        found = Validator(
            side,
            workers,
            rerun=None if run is None else run.inside,
            limits=limits,
            is_fair=timeout is None,
            budget=budget,
            progress=progress,
        ).validate()
    if side.recording.header.imported:
        _judge_log(found, side.recording, warn)
    return found


def _recorded(path: str) -> Side:
    side = recorded_side(path)
    if not side.recording.header.has_texts:
        raise ActiondbgError(
            f"{path!r} does not hold the IR of functions: record it with --ir function."
        )
    return side


def _check_failed(side: Side, warn: Callable[[str], None]) -> None:
    """Raise ActiondbgError if a tool that failed has done nothing."""
    if not side.recording.count:
        raise ActiondbgError(f"The tool {side.ending}: no action is there to judge.")
    warn(f"The tool {side.ending}: its actions up to then are judged.")


def _functions(recording: Recording) -> set[str]:
    """Return the functions with a body in the IR around the outermost actions."""
    found: set[str] = set()
    actions = recording.table("actions", ["ordinal", "parent"]).to_pylist()
    for ordinal in (row["ordinal"] for row in actions if not row["parent"]):
        for snapshot in recording.snapshots(ordinal):
            for text in (snapshot.before, snapshot.after):
                found.update(_functions_in(text or ""))
    return found


def _functions_in(text: str) -> Iterator[str]:
    """Yield the functions with a body in a text, also those of modules in modules."""
    top = outermost(text)
    left = [] if top is None else [top]
    while left:
        one = left.pop()
        if one.is_module:
            left += operations_in(text, one)
        elif one.name.endswith(".func") and one.of(text).strip().count("\n") > 1:
            yield one.symbol


def _path_of(tool: str) -> str:
    """Return the path of the tool; its name, if it is not here."""
    try:
        return str(find_tool(tool).path)
    except ActiondbgError:
        return tool


def _judge_log(found: Validation, recording: Recording, warn: Callable[[str], None]) -> None:
    """Take the passes whose IR an imported log does not show out of what is judged."""
    rows = recording.table("actions", ["ordinal", "name", "outcome", "changed"]).to_pylist()
    hidden = {row["ordinal"]: row["name"] for row in rows if row["changed"] is None}
    found.passes = [each for each in found.passes if each.step.ordinal not in hidden]
    found.unjudged += len(hidden)
    if hidden:
        ordinal, name = next(iter(hidden.items()))
        warn(
            f"The log lacks the IR before or after {counted(len(hidden), 'pass')}, such as "
            f"#{ordinal} ({name}): make it with --mlir-print-ir-before-all and "
            "--mlir-print-ir-after-all."
        )
    failed = next((row for row in rows if row["outcome"] == "failed"), None)
    if failed is not None:
        found.cut = f"#{failed['ordinal']} ({failed['name']}) failed: what ran is judged."
        warn(found.cut)


def write_report(folder: Path, text: str, found: Validation) -> None:
    """Write the text and the files of a validation into a folder, which is made.

    Raises:
        ActiondbgError: a file cannot be written.
    """
    files = {"report.txt": f"{text}\n"}
    if found.texts is not None:
        files |= {"before.mlir": found.texts.before, "after.mlir": found.texts.after}
    narrowed, culprit = found.narrowed, found.culprit
    if narrowed is not None:
        head = f"// The smallest program: --pass-pipeline='{narrowed.pipeline}'"
        files["reduced.mlir"] = f"{head}\n\n{narrowed.text}"
    counterexample = None if culprit is None else culprit.of("different")[0].counterexample
    if counterexample is not None and counterexample.tests is not None:
        before, after = counterexample.tests
        files |= {"counterexample-before.mlir": before, "counterexample-after.mlir": after}
    try:
        with made_folder(folder):
            for name, content in files.items():
                write_whole(folder / name, content.encode())
    except OSError as error:
        raise ActiondbgError(f"{str(folder)!r} cannot be written: {error.strerror}.") from error


@dataclass
class ToolRun:
    """Runs a tool for the IR around its passes, and again for the IR in one.

    The IR around each action of a large function would take many times as long as the run.
    """

    _argv: Sequence[str]  # the command line; the file of its ``-o`` is not written
    _folder: Path  # for recordings
    _stdin: str | os.PathLike[str] | None = None  # the file on its standard input; None for none
    _tell: Callable[[str], None] | None = None  # called with a sentence about a long run
    _runs: int = 0

    def passes(self) -> Side:
        """Return the run, with the IR around passes; around all actions if it has no passes.

        Raises:
            ActiondbgError: the command makes no MLIR context.
            LaunchError: the tool cannot be started.
        """
        side = run_side(
            self._argv, self._new_folder(), ir="pass", stdin=self._stdin, tell=self._tell
        )
        if (
            not side.recording.count
            or PASS_TAG in side.recording.table("actions", ["tag"])["tag"].unique().to_pylist()
        ):
            return side
        return run_side(self._argv, self._new_folder(), stdin=self._stdin)

    def inside(self, ordinals: range, seconds: float) -> Recording | None:
        """Return a recording with the IR around some actions; None if there is none.

        The tool is ended after so many seconds.
        """
        with contextlib.suppress(ActiondbgError, OSError):  # such as a full disk
            return run_side(
                self._argv, self._new_folder(), ir_of=ordinals, stdin=self._stdin, seconds=seconds
            ).recording
        return None

    def _new_folder(self) -> Path:
        self._runs += 1
        folder = self._folder / f"run-{self._runs}"
        folder.mkdir()
        return folder
