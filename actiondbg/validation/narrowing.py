"""The smallest program on which a pass shows its fault."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from actiondbg.analysis.textual_pipelines import Element, parse_pipeline
from actiondbg.bisection.command_runner import CommandRunner
from actiondbg.bisection.reduction import reduce_input
from actiondbg.validation.function_judgement import (
    FunctionJudgement,
    JudgementLimits,
    Query,
    in_module,
)
from actiondbg.validation.steps import ValidationStep
from actiondbg.validation.workers import Numbered, Workers

_UNREGISTERED = "allow-unregistered-dialect"
_SECONDS = 5.0  # for a run of the tool
# A smaller program may loop forever: it has so many times the seconds of the program that differed
# fastest, and a few more.
_TIMES_FASTEST = 2.0
_MORE_SECONDS = 0.5
_PIPELINE = "pass-pipeline"


@dataclass(frozen=True, slots=True)
class Narrowed:
    """A reduced program."""

    text: str  # of the program
    pipeline: str  # of the pass alone
    judgement: FunctionJudgement  # of the function that differs


def narrow(
    argv: Sequence[str],
    step: ValidationStep,
    query: Query,
    *,
    limits: JudgementLimits,
    folder: Path,
    seconds: float,
    progress: Callable[[str], None] | None = None,
) -> Narrowed | None:
    """Reduce the program before a pass, as long as the pass makes something else of it.

    Args:
        argv: the command line that the pass was in.
        step: the pass.
        query: the IR before and after it.
        limits: of a judgement.
        folder: an empty one, for files.
        seconds: the time limit.
        progress: called with a line for each smaller program.

    Returns:
        The smallest program; None if the pass alone does not show its fault, or the tool cannot run
        it alone.
    """
    pipeline = pipeline_of(argv, step)
    if pipeline is None:
        return None
    folder.mkdir(exist_ok=True)
    original = folder / "before.mlir"
    text = in_module(query.before, query.symbol, query.module) if query.symbol else query.before
    original.write_text(text, encoding="utf-8")
    with Workers(1) as workers:
        options = [word for word in argv if word.lstrip("-") == _UNREGISTERED]
        words = [limits.tool, *options, f"--{_PIPELINE}={pipeline}"]
        attempt = _Attempt(words, limits, CommandRunner(folder), workers, step.name)
        if not attempt.differs(original):
            return None
        reduced = reduce_input(
            original, attempt.differs, progress, directory=folder, seconds=seconds
        )
        attempt.judge(reduced.path, float("inf"))  # the last attempt was another one
    if attempt.judgement is None:
        return None
    return Narrowed(reduced.path.read_text(encoding="utf-8"), pipeline, attempt.judgement)


@dataclass
class _Attempt:
    """Runs a pass on programs, and judges what it makes of them.

    Attributes:
        judgement: of the last program, of the function that differs.
    """

    words: list[str]  # the command line that runs the pass, without the program
    limits: JudgementLimits  # of each judgement
    commands: CommandRunner
    workers: Workers
    suspect: str  # the pass
    judgement: FunctionJudgement | None = None
    _enough: float = float("inf")  # seconds for a judgement

    def differs(self, path: Path) -> bool:
        """Whether the pass makes a program that does something else, as is soon seen."""
        taken = self.judge(path, self._enough)
        if self.judgement is None:
            return False
        self._enough = min(self._enough, _TIMES_FASTEST * taken + _MORE_SECONDS)
        return True

    def judge(self, path: Path, seconds: float) -> float:
        """Judge what the pass makes of a program, in a time limit; return the seconds taken."""
        self.judgement = None
        output = path.with_suffix(".after.mlir")
        command = [*self.words, str(path), "-o", str(output)]
        try:
            done = self.commands.run(command, None, _SECONDS)
        except OSError:
            return 0.0
        if done.status != 0:
            return 0.0
        texts = (each.read_text(encoding="utf-8", errors="replace") for each in (path, output))
        query = Query(*texts, suspect=self.suspect)
        asked = Numbered(0, query, min(seconds, self.limits.seconds_for(query)))
        ((_, found),) = self.workers.answers([asked], self.limits)
        different = (each for each in found if each.verdict == "different")
        self.judgement = next(different, None)
        return sum(each.seconds for each in found)


def pipeline_of(argv: Sequence[str], step: ValidationStep) -> str | None:
    """Return the pipeline of a pass alone, with the options that a command line gives it.

    None if the command line does not name the pass, or names it several times.
    """
    found = set(_named(argv, step.name))
    if len(found) != 1:
        return None
    (element,) = found
    if step.op in (None, "builtin.module"):
        return f"builtin.module({element})"
    return f"builtin.module({step.op}({element}))"


def _named(argv: Sequence[str], name: str) -> Iterator[Element]:
    """Yield the passes of a name on a command line."""
    for at, word in enumerate(argv):
        option, _, value = word.lstrip("-").partition("=")
        if not word.startswith("-"):
            continue
        if option == name:
            yield Element(name, value)
        elif option == _PIPELINE:
            pipeline = parse_pipeline(value or " ".join(argv[at + 1 : at + 2]))
            yield from () if pipeline is None else _inside(pipeline, name)


def _inside(element: Element, name: str) -> Iterator[Element]:
    if element.name == name and element.inner is None:
        yield element
    for inner in element.inner or ():
        yield from _inside(inner, name)
