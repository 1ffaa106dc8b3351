"""Strategies to show the culprit with the stock tool alone, the most convincing one first.

They run the command line of the tool in another folder, to which its files are copied.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from actiondbg.analysis.textual_pipelines import continuations
from actiondbg.bisection.copied_files import CopiedFiles
from actiondbg.bisection.folder import FolderFile, input_name
from actiondbg.bisection.reproducer.scripts import OUT, Expected, ScriptStep
from actiondbg.protocol.tags import PASS_TAG, PATTERN_TAG
from actiondbg.tool.command_line import is_file

# Options of the tool that reading and printing the same IR needs.
_KEPT = (
    "allow-unregistered-dialect",
    "emit-bytecode",
    "irdl-file",
    "load-dialect-plugin",
    "load-pass-plugin",
    "no-implicit-module",
    "verify-each",
    "mlir-print-",
    "mlir-elide-",
    "mlir-use-nameloc-as-prefix",
)
_NOT_KEPT = ("mlir-print-ir-", "mlir-print-stacktrace", "mlir-print-debug-counter")


@dataclass(frozen=True)
class PortableCommand:
    """The tool's command line in the folder.

    Args:
        args: the arguments; OUT stands for the file of the output.
        source: the name of the input; None if it is not known.
        piped: whether the input is read from the standard input.
        base: the directory that a program runs in, which may open files there; None for the folder.
    """

    args: list[str]
    source: str | None
    piped: bool
    base: Path | None = None

    @property
    def writes_file(self) -> bool:
        """Whether the command line names the output file."""
        return OUT in self.args


def make_portable(argv: list[str], copies: CopiedFiles, stdin: Path | None) -> PortableCommand:
    """Return a command line for the folder.

    Args:
        copies: the files to copy; those of the command line are added.
        stdin: the file of the standard input, or None.
    """
    args: list[str] = []
    source: str | None = None
    words = iter(argv[1:])
    for word in words:
        if word in ("-o", "--o"):
            next(words, None)
            args += ["-o", OUT]
        elif word.startswith(("-o=", "--o=")):
            args += ["-o", OUT]
        elif source is None and not word.startswith("-") and is_file(copies.base / word):
            path = Path(os.path.normpath(copies.base / word))
            source = _add_source(copies, path)
            args.append(source)
        else:
            args.append(copies.rewrite(word))
    if source is None and stdin is not None:
        return PortableCommand(args, _add_source(copies, stdin), piped=True)
    return PortableCommand(args, source, piped=False)


def located_command(argv: list[str], base: Path) -> PortableCommand:
    """Return the command line of a program, such as Python's, which finds its files by itself.

    They are not copied: a module beside a script, or a file that it opens, would be missing.
    """
    named = (base / word if not word.startswith("-") else None for word in argv[1:])
    return PortableCommand(
        [
            os.path.normpath(path) if path is not None and is_file(path) else word
            for path, word in zip(named, argv[1:], strict=True)
        ],
        None,
        piped=False,
        base=base,
    )


def with_source(command: PortableCommand, source: str, options: Iterable[str]) -> list[str]:
    """Return the arguments that run other IR: the options that reading it needs, and ``options``.

    Args:
        command: the command line of the input.
        source: the name of the IR in the folder.
        options: such as the pipeline.
    """
    kept = [word for word in command.args if _is_kept(word)]
    out = ["-o", OUT] if command.writes_file else []
    return [source, *kept, *options, *out]


def command_text(args: Iterable[str], tool: str = "mlir-opt") -> str:
    """Return a command line to display; its output goes to the standard output."""
    return shlex.join([tool, *("-" if word == OUT else word for word in args)])


def _add_source(copies: CopiedFiles, path: Path) -> str:
    copies.source = input_name(path)
    copies.files[copies.source] = path
    return copies.source


def _is_kept(word: str) -> bool:
    name = word.lstrip("-").partition("=")[0]
    return word.startswith("-") and name.startswith(_KEPT) and not name.startswith(_NOT_KEPT)


_CONFLICTING = (
    "mlir-debug-counter",
    "log-actions-to",
    "profile-actions-to",
    "mlir-enable-debugger-hook",
)
_MOST_CUTS = 4  # of a pipeline that runs the pass several times


@dataclass(frozen=True)
class StrategyFacts:
    """The facts that strategies are made of.

    Args:
        command: the tool's command line.
        tag: of the culprit.
        nth: the culprit's number among the actions of its tag, from 1; None if not known.
        first: the number of the first pattern application in its pass; None if not known.
        pass_name: the pass that the culprit is, or is in; None for none.
        pipeline: that pass; None if it cannot be written as text.
        whole_pipelines: returns the pipelines that the tool runs; empty if they are not known.
        snapshots: which of the files of IR were printed.
        randomize: whether the steps are run with random addresses, where actions have no numbers.
    """

    command: PortableCommand
    tag: str
    nth: int | None = None
    first: int | None = None
    pass_name: str | None = None
    pipeline: str | None = None
    whole_pipelines: Callable[[], Sequence[str]] = list[str]
    snapshots: frozenset[str] = frozenset()
    randomize: bool = False

    @property
    def is_pass(self) -> bool:
        return self.tag == PASS_TAG

    @property
    def pass_input(self) -> str:
        """The file of the IR before the pass."""
        return FolderFile.BEFORE if self.is_pass else FolderFile.BEFORE_PASS


@dataclass(frozen=True)
class Strategy:
    """A way to show the culprit.

    Args:
        sentence: what the steps show.
        steps: runs of the tool.
        runs_pass: whether the tool makes the mistake in them; else it only reads IR.
    """

    sentence: str
    steps: Sequence[ScriptStep]
    runs_pass: bool = True


def strategies(facts: StrategyFacts) -> Iterator[Strategy]:
    """Yield the strategies; the caller runs their steps to confirm them."""
    command = _command_as_it_is(facts)
    if facts.nth and _can_count(facts):
        yield _counted(facts, command, facts.nth)
    if facts.pipeline is not None and facts.pass_input in facts.snapshots:
        yield _pass_alone(facts, command, facts.pipeline)
        for first, rest in _cuts(facts, facts.pipeline):
            yield _pass_and_rest(facts, command, first, rest)
    if {FolderFile.BEFORE, FolderFile.AFTER} <= facts.snapshots:
        yield Strategy(
            "The IR before and after the action; a stock tool cannot apply a single action.",
            [*command, *_before_and_after(facts, essential=True)],
            runs_pass=False,
        )


def fallback_strategy(facts: StrategyFacts) -> Strategy:
    """Return the strategy for a culprit for which no other one was confirmed."""
    return Strategy(
        "The command as it is; no run of a stock tool alone shows good.", _command_as_it_is(facts)
    )


def skipping_strategy(facts: StrategyFacts) -> Strategy:
    """Return the strategy that needs actiondbg to skip the culprit."""
    bad = _command_as_it_is(facts)
    good = [
        replace(step, expected="good", title="the command in actiondbg, with skips", skips=True)
        for step in bad
    ]
    return Strategy(
        "The command is bad as it is, and good in actiondbg, which skips what verdict.skips names; "
        "no run of the stock tool alone shows good.",
        [*bad, *good],
    )


def _command_as_it_is(facts: StrategyFacts) -> list[ScriptStep]:
    command = facts.command
    if command.source is None and command.base is None:
        return []
    piped = command.source if command.piped else None
    return [ScriptStep("bad", "the command as it is", command.args, piped)]


def _can_count(facts: StrategyFacts) -> bool:
    options = {word.lstrip("-").partition("=")[0] for word in facts.command.args}
    return (
        facts.tag == PATTERN_TAG
        and not facts.randomize
        and facts.command.source is not None
        and options.isdisjoint(_CONFLICTING)
    )


def _counted(facts: StrategyFacts, command: Sequence[ScriptStep], nth: int) -> Strategy:
    piped = facts.command.source if facts.command.piped else None

    def step(expected: Expected, title: str, count: int) -> ScriptStep:
        return ScriptStep(expected, title, [*facts.command.args, *_counters(count)], piped)

    return Strategy(
        f"The command is bad with {_first(nth)}, and good with {_first(nth - 1)}: "
        f"the culprit is application {nth}.",
        [
            *command,
            step("bad", f"the command with {_first(nth)}", nth),
            step("good", f"the command with {_first(nth - 1)}", nth - 1),
        ],
    )


def _first(count: int) -> str:
    if count == 0:
        return "no pattern application"
    if count == 1:
        return "only the first pattern application"
    return f"only the first {count} pattern applications"


def _counters(count: int) -> list[str]:
    return [
        "--mlir-disable-threading",
        f"--mlir-debug-counter={PATTERN_TAG}-skip=0,{PATTERN_TAG}-count={count}",
    ]


def _pass_alone(facts: StrategyFacts, command: Sequence[ScriptStep], pipeline: str) -> Strategy:
    source = facts.pass_input

    def args(options: Sequence[str]) -> list[str]:
        return with_source(facts.command, source, options)

    option = f"--pass-pipeline={pipeline}"
    steps = [
        *command,
        ScriptStep("bad", f"{source}, the pass alone", args([option])),
        ScriptStep("good", f"{source} without any pass", args([])),
    ]
    if facts.nth and facts.first and _can_count(facts):
        in_pass = facts.nth - facts.first + 1
        counts: list[tuple[Expected, int]] = [("bad", in_pass), ("good", in_pass - 1)]
        for expected, count in counts:
            title = f"{source}, the pass alone with {_first(count)}"
            counted = args([option, *_counters(count)])
            steps.append(ScriptStep(expected, title, counted, essential=False, pair="counted"))
    return Strategy(
        f"The IR as it was before {facts.pass_name} is good, and is bad after that pass alone.",
        [*steps, *_before_and_after(facts)],
    )


def _cuts(facts: StrategyFacts, pipeline: str) -> list[tuple[str, str]]:
    found = [cut for whole in facts.whole_pipelines() for cut in continuations(whole, pipeline)]
    return found[:_MOST_CUTS]


def _pass_and_rest(
    facts: StrategyFacts, command: Sequence[ScriptStep], first: str, rest: str
) -> Strategy:
    source = facts.pass_input

    def step(title: str, expected: Expected, pipeline: str) -> ScriptStep:
        option = f"--pass-pipeline={pipeline}"
        return ScriptStep(expected, title, with_source(facts.command, source, [option]))

    return Strategy(
        f"From the IR as it was before {facts.pass_name}: that pass and those after it are bad, "
        "and those after it alone are good.",
        [
            *command,
            step(f"{source}, the pass and those after it", "bad", first),
            step(f"{source}, those after it alone", "good", rest),
            *_before_and_after(facts, f"--pass-pipeline={rest}"),
        ],
    )


def _before_and_after(
    facts: StrategyFacts, option: str | None = None, essential: bool = False
) -> list[ScriptStep]:
    """Return the steps that judge the IR before and after the culprit.

    Args:
        option: the pipeline to run on the IR; None for no pass.
        essential: whether the strategy fails without these steps.
    """
    then = "without any pass" if option is None else "and the passes after it"
    titles: list[tuple[Expected, str, str]] = [
        ("good", FolderFile.BEFORE, f"{FolderFile.BEFORE}, the IR just before the action, {then}"),
        ("bad", FolderFile.AFTER, f"{FolderFile.AFTER}, the IR just after it, {then}"),
    ]
    options = [] if option is None else [option]
    return [
        ScriptStep(
            expected, title, with_source(facts.command, source, options), essential=essential
        )
        for expected, source, title in titles
        if source in facts.snapshots and (essential or source != facts.pass_input)
    ]
