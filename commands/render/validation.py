"""The text of a validation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from math import prod
from typing import TYPE_CHECKING, Any

import msgspec

from actiondbg.commands.render.renderer import RenderContext, renders
from actiondbg.commands.render.units import path_from_here
from actiondbg.support.counts import counted, joined

if TYPE_CHECKING:
    from actiondbg.validation.function_judgement import FunctionJudgement, Query
    from actiondbg.validation.inputs import Argument, Input
    from actiondbg.validation.run_validation import JudgedStep, Narrowed, Stage, Validation
    from actiondbg.validation.steps import ValidationStep

_MOST_FUNCTIONS = 4  # that are named of a pass
_MOST_VALUES = 16  # of an argument
_MOST_LINES = 40  # of a diff
_NOUNS = {"passes": "pass", "actions": "action"}  # of the steps of a stage
_WAITS = {
    "tool": "running the tool ...",
    "run": "running the tool again ...",
    "programs": "reducing the program ...",
}

Paint = Callable[[str], str]


def progress_words(stage: Stage, done: int, total: int) -> str:
    """Return a line about a validation that goes on."""
    if stage in _WAITS:
        return _WAITS[stage]
    return f"{done:,} of {counted(total, _NOUNS[stage])} judged ..."


def validation_lines(found: Validation, paint: Paint, *, all: bool = False) -> Iterator[str]:
    """Yield the text of a validation; ``all``: equivalent functions too, and the whole diff."""
    for judged in found.passes:
        yield from _pass(judged, all)
    yield from ("", _summary(found)) if found.passes else (_summary(found),)
    if found.culprit is not None:
        yield from _culprit(found, found.culprit)
    if found.narrowed is not None:
        yield from _reduced(found.narrowed)
    elif found.texts is not None:
        yield from _diff(found.texts, paint)


def _pass(judged: JudgedStep, all: bool) -> Iterator[str]:
    yield f"{place(judged.step)}: {judged.verdict}{_thoroughness(judged)}"
    shown = [
        each for each in judged.functions if all or each.verdict in (judged.verdict, "different")
    ]
    if judged.verdict == "equivalent" and not all:
        return
    for each in shown[:_MOST_FUNCTIONS] if not all else shown:
        verdict = "" if each.verdict == judged.verdict else f"{each.verdict}: "
        yield f"    @{each.symbol}: {verdict}{each.detail}"
    if len(shown) > _MOST_FUNCTIONS and not all:
        yield f"    ... and {counted(len(shown) - _MOST_FUNCTIONS, 'more function')} (--all)"


def _thoroughness(judged: JudgedStep) -> str:
    """Return by which ways the functions of an equivalent step were found so."""
    if judged.verdict != "equivalent":
        return ""
    ways = Counter(each.evidence for each in judged.functions)
    names = {"proof": "proved", "execution": "tested"}
    parts = [
        f"{counted(count, 'function')} {names[way]}" for way, count in ways.items() if way in names
    ]
    return f" ({', '.join(parts)})" if parts else ""


def _summary(found: Validation) -> str:
    from actiondbg.validation.function_judgement import VERDICT_WORDS

    counts = Counter(each.verdict for each in found.passes)
    parts = [f"{counts[each]:,} {words}" for each, words in VERDICT_WORDS.items() if counts[each]]
    text = f"{counted(len(found.passes), 'changing pass')}: {', '.join(parts)}."
    if not found.passes and found.unjudged:
        text = "No pass is judged yet."
    elif not found.passes:
        is_cut = found.cut is not None
        what = "a chosen function" if found.left_out else "IR"
        text = f"The recording has no pass that changed {what}."
        text = text if is_cut else f"No pass changed {what}."
    if found.inside:
        text += f" {counted(len(found.inside), 'action')} in passes judged."
    if found.unjudged:
        text += f" {counted(found.unjudged, 'action')} not judged."
    if found.left_out:
        text += f" {counted(found.left_out, 'function')} left out by --func."
    return text


def _culprit(found: Validation, culprit: JudgedStep) -> Iterator[str]:
    yield f"The first different action is {place(culprit.step)}."
    if culprit.judged_in is not None:
        yield f"    the only one that can make the difference in {place(culprit.judged_in)}"
    judgement = culprit.of("different")[0]
    if found.nests:
        nests = (f"the {op} at {path_from_here(file)}:{line}" for op, file, line in found.nests)
        places = dict.fromkeys(nests)
        yield f"    it changed {joined(places)}"
    counterexample = judgement.counterexample
    if counterexample is not None:
        yield f"    {call_text(judgement.symbol, counterexample.input)}"
        yield f"    {counterexample.difference}"
        confirmed = counterexample.confirmed or "not confirmed by a second way"
        yield f"    {confirmed}"
    inner = [each for each in found.inside if each.verdict == "unknown"]
    inside = [each for each in inner if each.step.ordinal > culprit.step.ordinal]
    if inside and culprit.judged_in is None:
        yield f"    not known: {joined(place(each.step) for each in inside[:3])}"
    earlier = found.first_unknown
    if earlier is not None and earlier.step.ordinal < culprit.step.ordinal:
        yield f"Not known before it: {place(earlier.step)}."


def _reduced(narrowed: Narrowed) -> Iterator[str]:
    yield ""
    yield f"The smallest program for --pass-pipeline='{narrowed.pipeline}':"
    judgement = narrowed.judgement
    if judgement.counterexample is not None:
        yield f"    {call_text(judgement.symbol, judgement.counterexample.input)}"
        yield f"    {judgement.counterexample.difference}"
    yield ""
    yield from _first_lines(narrowed.text.rstrip().splitlines())


def _diff(texts: Query, paint: Paint) -> Iterator[str]:
    from actiondbg.ir.diff import Diff

    yield ""
    yield from _first_lines(Diff(texts.before, texts.after).unified(), paint)


def _first_lines(lines: Sequence[str], paint: Paint = str) -> Iterator[str]:
    yield from map(paint, lines[:_MOST_LINES])
    if len(lines) > _MOST_LINES:
        yield f"... and {counted(len(lines) - _MOST_LINES, 'more line')} (-o DIR has all)"


def place(step: ValidationStep) -> str:
    """Return the name and the place of an action, with a path relative to here."""
    name = f" ({step.name})" if step.name else ""
    on = f" on {step.op}" if step.op else ""
    function = f" in @{step.function}" if step.function else ""
    where = ""
    if step.file and step.line:
        where = f" at {path_from_here(step.file)}:{step.line}:{step.col}"
    return f"#{step.ordinal} {step.tag}{name}{on}{function}{where}"


def call_text(symbol: str, input: Input) -> str:
    arguments = ", ".join(_argument(each, input) for each in input.arguments)
    return f"@{symbol}({arguments})"


def _argument(argument: Argument, input: Input) -> str:
    from actiondbg.validation.inputs import Array, View

    match argument:
        case Array(shape, values):
            return f"{_shape(shape)} {_values(values)}"
        case View(buffer, offset, sizes, strides):
            layout = f", offset {offset}, strides {list(strides)}"
            plain = offset == 0 and len(input.buffers[buffer]) == prod(sizes)
            shown = "" if plain else layout
            return f"memref {_shape(sizes)} of {_values(input.buffers[buffer])}{shown}"
        case _:
            return repr(argument)


def _shape(shape: tuple[int, ...]) -> str:
    return "x".join(map(str, shape)) or "0-d"


def _values(values: tuple[int | float, ...]) -> str:
    shown = ", ".join(map(repr, values[:_MOST_VALUES]))
    return f"[{shown}, ...]" if len(values) > _MOST_VALUES else f"[{shown}]"


def validation_object(found: Validation) -> dict[str, Any]:
    culprit = found.culprit
    return {
        "verdict": found.verdict,
        "culprit": None if culprit is None else _step_object(culprit),
        "reduced": None if found.narrowed is None else found.narrowed.text,
        "pipeline": None if found.narrowed is None else found.narrowed.pipeline,
        "passes": [_step_object(each) for each in found.passes],
        "inside": [_step_object(each) for each in found.inside],
        "unjudged": found.unjudged,
        "left_out": found.left_out,
        "interrupted": found.is_interrupted,
        "status": found.status,
    }


def _step_object(judged: JudgedStep) -> dict[str, Any]:
    shown = asdict(judged.step)
    del shown["function"]
    return {
        **shown,
        "verdict": judged.verdict,
        "judged_in": None if judged.judged_in is None else judged.judged_in.ordinal,
        "functions": [_judgement_object(each) for each in judged.functions],
    }


def _judgement_object(judgement: FunctionJudgement) -> dict[str, Any]:
    counterexample = judgement.counterexample
    shown: dict[str, Any] = {
        "function": judgement.symbol,
        "verdict": judgement.verdict,
        "evidence": judgement.evidence,
        "detail": judgement.detail,
        "inputs": judgement.inputs,
        "seconds": round(judgement.seconds, 4),
    }
    if counterexample is not None:
        shown["call"] = call_text(judgement.symbol, counterexample.input)
        shown["confirmed"] = counterexample.confirmed
    return shown


class ActionJudged(msgspec.Struct):
    """What is known of the action of a stop."""

    ordinal: int  # of the action; 0 for that of the stop
    functions: list[FunctionJudgement]  # the judgement of each function that it changed


def action_text(_: RenderContext, shown: ActionJudged) -> str:
    if not shown.functions:
        return "The action changed no function."
    from actiondbg.validation.function_judgement import VERDICT_WORDS

    lines: list[str] = []
    for each in shown.functions:
        lines.append(f"@{each.symbol}: {VERDICT_WORDS[each.verdict]}: {each.detail}")
        if each.counterexample is not None:
            lines.append(f"    {call_text(each.symbol, each.counterexample.input)}")
            lines.append(f"    {each.counterexample.confirmed}")
    return "\n".join(lines)


renders(
    ActionJudged,
    action_text,
    lambda shown: {"functions": [_judgement_object(each) for each in shown.functions]},
)
