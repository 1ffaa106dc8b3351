"""Ways to show with the stock tool alone that an action is to blame, the most telling first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from actiondbg.bisection.reproducer.pipelines import continuations
from actiondbg.bisection.reproducer.portable import Command, with_source
from actiondbg.bisection.reproducer.script import Step, Wanted

INPUT, BEFORE, AFTER, BEFORE_PASS = "input.mlir", "before.mlir", "after.mlir", "before-pass.mlir"
_COUNTER = "apply-pattern"  # the only leaf action of which upstream's debug counters know
_TAKEN = ("mlir-debug-counter", "log-actions-to", "profile-actions-to", "mlir-enable-debugger-hook")
_MOST_PLACES = 4  # of a pass that comes several times in the pipeline


@dataclass(frozen=True)
class Known:
    """What there is to show it with.

    Args:
        command: the tool's command line.
        tag: of the guilty action.
        nth: its number among the actions of its tag in its run, from 1; None if not known.
        first: that of the first pattern application in its pass; None if not known.
        pass_name: the pass that it is, or is in; None for none.
        pipeline: that pass; None if it cannot be written as text.
        whole: tells all that the tool runs, as pipelines; none if that is not known.
        texts: which of BEFORE, AFTER and BEFORE_PASS there are.
    """

    command: Command
    tag: str
    nth: int | None = None
    first: int | None = None
    pass_name: str | None = None
    pipeline: str | None = None
    whole: Callable[[], Sequence[str]] = list[str]
    texts: frozenset[str] = frozenset()

    @property
    def is_pass(self) -> bool:
        return self.tag == "pass-execution"

    @property
    def source(self) -> str:
        """The IR that the pass got."""
        return BEFORE if self.is_pass else BEFORE_PASS


@dataclass(frozen=True)
class Way:
    """What a reproducer shows.

    Args:
        what: one sentence.
        steps: that show it.
    """

    what: str
    steps: Sequence[Step]


def ways(known: Known) -> Iterator[Way]:
    """Yield the ways; each has steps that have to be confirmed by running them."""
    whole = _whole(known)
    if known.nth and _can_count(known):
        yield _counted(known, whole, known.nth)
    if known.pipeline is not None and known.source in known.texts:
        yield _pass_alone(known, whole, known.pipeline)
        for place in _places(known, known.pipeline):
            yield _pass_and_rest(known, whole, *place)
    if {BEFORE, AFTER} <= known.texts:
        yield Way(
            "The IR before and after the action; a stock tool alone cannot carry it out by itself.",
            [*whole, *_sides(known, essential=True)],
        )


def fallback(known: Known) -> Way:
    """Return what is left when no way was confirmed: the command as it is."""
    return Way("The command as it is; no run of a stock tool alone shows good.", _whole(known))


def _whole(known: Known) -> list[Step]:
    command = known.command
    if command.source is None:
        return []
    piped = command.source if command.piped else None
    return [Step("bad", "the command as it is", command.args, piped)]


def _can_count(known: Known) -> bool:
    words = (word.lstrip("-").partition("=")[0] for word in known.command.args)
    return known.tag == _COUNTER and known.command.source is not None and not {*_TAKEN} & {*words}


def _counted(known: Known, whole: Sequence[Step], nth: int) -> Way:
    command = known.command
    piped = command.source if command.piped else None

    def step(wanted: Wanted, title: str, count: int) -> Step:
        return Step(wanted, title, [*command.args, *_counters(count)], piped)

    return Way(
        f"The command is bad with {_first(nth)}, and good with {_first(nth - 1)}: "
        f"application {nth} is to blame.",
        [
            *whole,
            step("bad", f"the command with {_first(nth)}", nth),
            step("good", f"the command with {_first(nth - 1)}", nth - 1),
        ],
    )


def _first(count: int) -> str:
    """Return the first pattern applications in words."""
    if count == 0:
        return "no pattern application"
    if count == 1:
        return "only the first pattern application"
    return f"only the first {count} pattern applications"


def _counters(count: int) -> list[str]:
    return [
        "--mlir-disable-threading",
        f"--mlir-debug-counter={_COUNTER}-skip=0,{_COUNTER}-count={count}",
    ]


def _pass_alone(known: Known, whole: Sequence[Step], pipeline: str) -> Way:
    source = known.source

    def run(options: Sequence[str]) -> list[str]:
        return with_source(known.command, source, options)

    option = f"--pass-pipeline={pipeline}"
    steps = [
        *whole,
        Step("bad", f"{source}, the pass alone", run([option])),
        Step("good", f"{source} without any pass", run([])),
    ]
    if known.nth and known.first and _can_count(known):
        inner = known.nth - known.first + 1
        counts: list[tuple[Wanted, int]] = [("bad", inner), ("good", inner - 1)]
        for wanted, count in counts:
            title = f"{source}, the pass alone with {_first(count)}"
            args = run([option, *_counters(count)])
            steps.append(Step(wanted, title, args, essential=False, pair="counted"))
    return Way(
        f"The IR as it was before {known.pass_name} is good, and is bad after that pass alone.",
        [*steps, *_sides(known)],
    )


def _places(known: Known, pipeline: str) -> list[tuple[str, str]]:
    found = [place for text in known.whole() for place in continuations(text, pipeline)]
    return found[:_MOST_PLACES]


def _pass_and_rest(known: Known, whole: Sequence[Step], first: str, rest: str) -> Way:
    source = known.source

    def run(title: str, wanted: Wanted, pipeline: str) -> Step:
        option = f"--pass-pipeline={pipeline}"
        return Step(wanted, title, with_source(known.command, source, [option]))

    return Way(
        f"From the IR as it was before {known.pass_name}: that pass and those after it are bad, "
        "and those after it alone are good.",
        [
            *whole,
            run(f"{source}, the pass and those after it", "bad", first),
            run(f"{source}, those after it alone", "good", rest),
            *_sides(known, f"--pass-pipeline={rest}"),
        ],
    )


def _sides(known: Known, option: str | None = None, essential: bool = False) -> list[Step]:
    """Return the steps that have the IR before and after the action judged."""
    then = "without any pass" if option is None else "and the passes after it"
    titles: list[tuple[Wanted, str, str]] = [
        ("good", BEFORE, f"{BEFORE}, the IR just before the action, {then}"),
        ("bad", AFTER, f"{AFTER}, the IR just after it, {then}"),
    ]
    return [
        Step(
            wanted,
            title,
            with_source(known.command, source, [] if option is None else [option]),
            essential=essential,
        )
        for wanted, source, title in titles
        if source in known.texts and (essential or source != known.source)
    ]
