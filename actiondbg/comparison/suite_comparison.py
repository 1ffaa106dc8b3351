"""Two suites compared: their runs in pairs, and the causes of what differs, each once."""

from __future__ import annotations

import os
import signal
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import get_context
from typing import Literal, NamedTuple

from actiondbg.comparison.run_comparison import FunctionComparison, RunComparison, compare_runs
from actiondbg.comparison.side import recorded_side
from actiondbg.errors import ActiondbgError
from actiondbg.ir.canonical import first_difference
from actiondbg.suite.folder import SuiteFolder
from actiondbg.suite.index import SHORTENED, UNWRITTEN
from actiondbg.suite.runs import SuiteRun, list_runs

# How two runs are alike.
Likeness = Literal[
    "same",
    "other way",
    "same actions",
    "unknown output",
    "other output",
    "unreadable",
    "unrecorded",
]
# The words for it, in the order of a summary.
LIKENESS_WORDS: dict[Likeness, str] = {
    "same": "the same output by the same actions",
    "other way": "the same output by other actions",
    "same actions": "the same actions, and the IR at the end is not recorded",
    "unknown output": "other actions, and the IR at the end is not recorded",
    "other output": "other output",
    "unreadable": "not compared, as a recording cannot be read",
    "unrecorded": "not compared: a recording is missing or incomplete, for lack of disk space",
}

OnProgress = Callable[[int, int], None]


class FirstAction(NamedTuple):
    """What a run did first where it parts from the other one."""

    name: str  # the subject of the action; of a pass its argument
    tag: str
    op: str | None  # the name of its operation, or None


@dataclass(frozen=True)
class DifferenceCause:
    """A difference that many runs may show."""

    # "ending" for another exit status, "actions", "result" of the same action, or "text" where no
    # recorded action differs.
    kind: Literal["ending", "actions", "result", "text"]
    passes: tuple[str, ...] = ()  # the arguments of the passes around it, the outermost first
    a: FirstAction | None = None  # what the first run did, or None for nothing
    b: FirstAction | None = None  # what the second one did
    detail: str = ""  # of an ending or a text a phrase; else ""


@dataclass(frozen=True)
class RunPair:
    """A run of both suites."""

    name: str  # the test with the line of its RUN line, or the command
    a: str  # the path of the recording in suite A
    b: str  # the path of the recording in suite B
    likeness: Likeness
    # Why, and in how many functions.
    causes: dict[DifferenceCause, int] = field(default_factory=dict[DifferenceCause, int])
    message: str = ""  # why they could not be compared; else ""
    size: int = 0  # the number of actions of both


@dataclass(frozen=True)
class CauseGroup:
    """The runs with the same cause."""

    cause: DifferenceCause  # the difference that they show
    likeness: Likeness  # of the runs
    pairs: list[RunPair]  # the runs, the smallest first
    functions: int  # the number of functions in them


@dataclass(frozen=True)
class SuiteComparison:
    """Two suites."""

    pairs: list[RunPair]  # the runs of both
    only_a: list[str]  # the names of the runs that only the first suite has
    only_b: list[str]  # the names of the runs that only the second suite has

    def count(self, likeness: Likeness) -> int:
        """Return the number of pairs that are alike in a way."""
        return sum(pair.likeness == likeness for pair in self.pairs)

    @property
    def is_same(self) -> bool:
        """Whether all runs have the same output, as far as it is known."""
        differing = any(pair.likeness in ("other output", "unreadable") for pair in self.pairs)
        return not (differing or self.only_a or self.only_b)

    def groups(self) -> list[CauseGroup]:
        """Return the causes, those of other output first, the most frequent first."""
        found: defaultdict[tuple[Likeness, DifferenceCause], list[RunPair]] = defaultdict(list)
        functions: Counter[tuple[Likeness, DifferenceCause]] = Counter()
        for pair in self.pairs:
            for cause, count in pair.causes.items():
                key = pair.likeness, cause
                found[key].append(pair)
                functions[key] += count
        groups = [
            CauseGroup(
                cause,
                likeness,
                sorted(pairs, key=lambda pair: pair.size),
                functions[likeness, cause],
            )
            for (likeness, cause), pairs in found.items()
        ]
        return sorted(
            groups,
            key=lambda each: (each.likeness != "other output", -len(each.pairs), -each.functions),
        )


def compare_suites(
    a: SuiteFolder,
    b: SuiteFolder,
    *,
    jobs: int = 1,
    progress: OnProgress | None = None,
) -> SuiteComparison:
    """Compare the runs of two suites.

    Runs are the same if they are of the same RUN line of the same test, else if their command
    lines are the same but for the path of the tool. Paths of tests are relative to the folder of
    all tests of the suite.

    Args:
        a: a suite.
        b: another one, such as of another version of the tool.
        jobs: how many pairs are compared at a time; more than 1 start processes by
            ``multiprocessing``, which import the main module of the program.
        progress: called with the numbers of pairs that were compared, and of all.

    Raises:
        UsageError: a folder is no suite.
        ActiondbgError: a process that compares was killed.
    """
    runs = _named(list_runs(a)), _named(list_runs(b))
    names = [name for name in runs[0] if name in runs[1]]
    work: list[Callable[[], RunPair]] = []
    pairs: list[RunPair] = []
    for name in names:
        both = runs[0][name], runs[1][name]
        paths = str(a.path / (both[0].recording or "")), str(b.path / (both[1].recording or ""))
        if any(run.missing in (UNWRITTEN, SHORTENED) for run in both):
            pairs.append(RunPair(name, *paths, likeness="unrecorded"))
        else:
            work.append(partial(_compare_pair, name, *paths))
    for done, pair in enumerate(_each(work, jobs), 1):
        pairs.append(pair)
        if progress is not None:
            progress(done, len(work))
    order = {name: at for at, name in enumerate(names)}
    return SuiteComparison(
        sorted(pairs, key=lambda pair: order[pair.name]),
        [name for name in runs[0] if name not in runs[1]],
        [name for name in runs[1] if name not in runs[0]],
    )


def _each(work: Sequence[Callable[[], RunPair]], jobs: int) -> Iterator[RunPair]:
    """Yield the results in the order in which they are ready."""
    if jobs == 1 or len(work) < 2:
        for each in work:
            yield each()
        return
    # A fork of this process would lack the threads of pyarrow and DuckDB.
    context = get_context("spawn")
    with ProcessPoolExecutor(jobs, context, _ignore_interrupts) as pool:
        futures = [pool.submit(each) for each in work]
        try:
            yield from (future.result() for future in as_completed(futures))
        except BrokenProcessPool as error:
            raise ActiondbgError(
                "A process that compared two runs was killed, as for want of memory: compare one "
                "pair at a time, by -j 1."
            ) from error
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _ignore_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that waits ends the pool


def _named(runs: Sequence[SuiteRun]) -> dict[str, SuiteRun]:
    """Return the runs that make a context by names that the same runs of another suite have."""
    tests = [os.path.dirname(run.test) for run in runs if run.test and os.path.isabs(run.test)]
    root = os.path.commonpath(tests) if tests else "/"
    # The order in which the processes of one RUN line begin is no property of the test.
    expected = [run for run in runs if run.recording or run.missing == UNWRITTEN]
    expected.sort(key=lambda run: (_name(run, root), _command(run), run.recording or ""))
    seen: Counter[str] = Counter()
    named: dict[str, SuiteRun] = {}
    for run in expected:
        name = _name(run, root)
        seen[name] += 1
        named[name if seen[name] == 1 else f"{name} ({seen[name]})"] = run
    return named


def _name(run: SuiteRun, root: str) -> str:
    if run.test is None:
        return _command(run)
    test = os.path.relpath(run.test, root) if os.path.isabs(run.test) else run.test
    return test if run.run_line is None else f"{test}:{run.run_line}"


def _command(run: SuiteRun) -> str:
    """Return the command line, without the folder of the tool."""
    tool, blank, rest = run.command.partition(" ")
    return os.path.basename(tool) + blank + rest


def _compare_pair(name: str, a: str, b: str) -> RunPair:
    from actiondbg.recording.errors import RecordingError

    try:
        compared = compare_runs(recorded_side(a), recorded_side(b))
    except RecordingError as error:
        return RunPair(name, a, b, "unreadable", message=str(error))
    causes: Counter[DifferenceCause] = Counter()
    if compared.a.status != compared.b.status:
        causes[
            DifferenceCause("ending", detail=f"A {compared.a.ending}, B {compared.b.ending}")
        ] += 1
    else:
        differing = [each for each in compared.functions if not each.is_equal]
        other = [each for each in differing if each.ir not in ("same", "unknown")]
        for each in other or differing:
            causes[_cause(each)] += 1
    size = compared.a.recording.count + compared.b.recording.count
    return RunPair(name, a, b, _likeness(compared), dict(causes), size=size)


def _likeness(compared: RunComparison) -> Likeness:
    if compared.output == "other":
        return "other output"
    if compared.output == "same":
        return "same" if compared.has_same_actions else "other way"
    return "same actions" if compared.has_same_actions else "unknown output"


def _cause(each: FunctionComparison) -> DifferenceCause:
    first = each.first
    if first is None:
        return DifferenceCause("text", detail=_text_difference(each))
    a, b = (
        FirstAction(side[0].name, side[0].tag, side[0].op) if side else None
        for side in (first.a, first.b)
    )
    passes = (first.a or first.b)[0].passes
    return DifferenceCause("result" if first.has_same_actions else "actions", passes, a, b)


def _text_difference(each: FunctionComparison) -> str:
    """Return a clause about the first line that differs at the end."""
    a, b = each.texts
    if a is None or b is None:
        return f"a function is {each.ir}"
    return f"the first difference is of {first_difference(a, b)}"
