"""Why a conversion failed, or left operations, as text and JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

import msgspec

from actiondbg.analysis.legalization.explanation import (
    Cause,
    Explanation,
    argument_words,
    cause_of,
    rank,
    said_lines,
    short_name,
)
from actiondbg.commands.render.renderer import RenderContext, renders
from actiondbg.commands.render.stop import culprit_words
from actiondbg.commands.render.tables import wrapped
from actiondbg.commands.render.terminal.output import BOLD, DIM, GREEN, RED, YELLOW, emphasize
from actiondbg.commands.render.units import operation, place_words
from actiondbg.protocol.legalizations import CastUnresolved
from actiondbg.support.counts import counted, shortened
from actiondbg.support.interrupts import signal_name
from actiondbg.support.source_file import known_place

if TYPE_CHECKING:
    from actiondbg.analysis.legalization.explanation import BesideCasts, LeftGroup, OtherFailure
    from actiondbg.analysis.legalization.tree import Conversion, Legalization, TriedPattern
    from actiondbg.protocol.legalizations import CastLeft, Neighbour, OperationsLeft, TypeFailed

_LeftT = TypeVar("_LeftT")

_LEGALITY = {
    "illegal": "the target marks it illegal",
    "dynamic": "the target refuses it, by a check",
    "unknown": "the target does not know it",
    "legal": "the target marks it legal",
}
_NO_FAILURE = "No dialect conversion failed"
_MOST_ERRORS = 3  # of a failed conversion
_MOST_USERS = 3  # of a cast
_MOST_LEFT = 2  # groups of operations, where the verifier failed
_HINTS = {
    "verifier": (
        "'bisect --verify' finds the action that broke it; 'catch verify' stops at the failure, "
        "with the IR, and 'set verify-each-action on' after that action."
    ),
    "pass": "'catch failure' stops there, with the IR; why-not says why a pattern did not match.",
    "crash": "'bisect --crash' finds the action without which the tool does not crash.",
}
_INPUT_HINT = "'catch verify' stops there, with the IR: the input."
_LEFT_HINT = (
    "To ask why conversions left operations, name them: 'explain op:memref.*' at the prompt, "
    "--left on the command line."
)

_APPLICABLE_HINT = "At a stop before that pass, 'info applicable' lists passes that change the IR."
_NO_TYPES_HINT = "A recording holds neither types nor what the target accepts: explain a run."
_ENDED_HINT = "No pass failed, and the verifier refused nothing: the tool's own errors say why."
_RECORDED_HINT = (
    "A recording does not hold failures of the verifier: explain the run itself, with "
    "actiondbg explain -- TOOL ARGS."
)


class ExplanationShown(msgspec.Struct):
    """An explanation: the way to what is missing, or everything that was tried."""

    explanation: Explanation
    all: bool


def explanation_text(context: RenderContext, shown: ExplanationShown) -> str:
    found = shown.explanation
    text = _Text(context, shown.all)
    if found.target is None:
        return "\n".join(text.failure(found))
    return "\n".join(text.left(found))


def headline(found: Explanation) -> str:
    """Return one sentence: which operation was not legalized, and what is missing."""
    conversion, cause = found.failed, found.cause
    if conversion is None or cause is None:
        if found.other is not None:
            ignored = any(each.failed for each in found.conversions)
            head = "A dialect conversion failed, and its pass did not" if ignored else _NO_FAILURE
            return f"{head}. {_other_words(found.other)}"
        if found.status:
            return f"{_NO_FAILURE}. The tool {_ended_words(found.status)}."
        if found.casts is not None:
            return f"{_NO_FAILURE}, but casts are left in the output."
        return f"{_NO_FAILURE} up to now."
    if not cause.way:
        words = conversion_words(conversion)
        how = f"failed: {cause.text}"
        if conversion.failed is None:
            how = "has not ended, and is legalizing no operation at this stop"
        return f"{words[0].upper()}{words[1:]} {how}."
    first = cause.way[0].legalization
    place = place_words(first.location)
    was = "was being legalized" if first.legalized is None else "was not legalized"
    needed = ""
    if found.needed_by is not None:
        needing = found.needed_by.groups()[0].first
        it = f"{operation(needing.id, needing.op)}{place_words(needing.location)}"
        needed = f"; {it} needs it, and no conversion before legalized it"
    return f"{operation(first.id, first.op)}{place} {was}: {cause.text}{needed}."


def _ended_words(status: int) -> str:
    return f"ended with status {status}" if status > 0 else f"was killed by {signal_name(-status)}"


def _hint(found: Explanation) -> str:
    """Return what to do next where no conversion failed."""
    if found.other is not None:
        is_input = found.other.kind == "verifier" and found.other.culprit is None
        return _INPUT_HINT if is_input else _HINTS[found.other.kind]
    if found.status:
        return _RECORDED_HINT if found.is_recorded else _ENDED_HINT
    return _LEFT_HINT


def _other_words(failure: OtherFailure) -> str:
    """Return which pass failed, or left IR that the verifier refuses, or the crash, and why."""
    if failure.kind == "crash":
        return failure.message
    culprit = None if failure.culprit is None else culprit_words(failure.culprit)
    message = failure.message.removeprefix("the verifier failed ").rstrip().rstrip(".")
    if failure.kind == "pass":
        unit = failure.unit
        place = "" if unit is None else place_words(unit.location)
        about = "" if unit is None else f", on {operation(unit.id, unit.name)}{place}"
        failed = f"{culprit} failed{about}: {message or 'no error was reported'}"
    else:
        after = "for the input" if culprit is None else f"after {culprit}"
        failed = f"The verifier failed {after}, {message}"
    return f"{failed}."


def conversion_words(conversion: Conversion) -> str:
    """Return a conversion in words, such as ``the full conversion #3 of lower in @f``."""
    by = f" of {conversion.pass_name}" if conversion.pass_name else ""
    function = f" in @{conversion.function}" if conversion.function else ""
    kind = {True: "the full conversion", False: "the partial conversion", None: "the conversion"}
    return f"{kind[conversion.full]} #{conversion.ordinal}{by}{function}"


class _Text:
    """The lines of an explanation.

    Args:
        all: whether everything that was tried is shown, not only the way to what is missing.
    """

    def __init__(self, context: RenderContext, all: bool) -> None:
        self._context = context
        self._all = all
        self._hidden = 0
        self._is_full = False

    # --- a conversion that failed ---

    def _other(self, found: Explanation) -> list[str]:
        lines = [headline(found)]
        unit = None if found.other is None else found.other.unit
        if unit is not None and unit.text is not None:
            lines.append(f"  {self._one_line(unit.text, '')}")
        for group in found.groups()[:_MOST_LEFT]:
            lines += self._group(group, ())
        if found.casts is not None:
            return [*lines, *self.left(found.casts)]
        return [*lines, emphasize(self._context, _hint(found), DIM)]

    def failure(self, found: Explanation) -> list[str]:
        conversion, cause = found.failed, found.cause
        if conversion is None or cause is None:
            return self._other(found)
        self._is_full = bool(conversion.full)
        text = headline(found)
        rows = wrapped(text, self._context.width) if self._context.width else [text]
        lines = [emphasize(self._context, row, BOLD) for row in rows]
        if conversion.failed is None and not cause.way:
            return lines
        lines.append(f"in {conversion_words(conversion)}")
        if conversion.failed is None:
            lines.append("which has not ended: this is what it tried up to now")
        if cause.way:
            lines += self._legalization(cause.way[0].legalization, cause, 1)
        if conversion.unresolved is not None:
            lines += _cast(conversion.unresolved)
        if cause.way:
            lines += self._left_as_well(found)
        for error in conversion.errors[:_MOST_ERRORS]:
            place = place_words(error.location)
            lines.append(f"reported{place}: {error.text}")
            if not cause.way:
                lines += [f"  {_note(note.text, note.location)}" for note in error.notes]
        if conversion.is_cut:
            lines.append("too much was tried: what came last is missing")
        return [*lines, *self._hints(found)]

    def _left_as_well(self, found: Explanation) -> Iterator[str]:
        for around in found.blockers:
            yield f"around it, {operation(around.id, around.op)} was left as well:"
            yield from self._legalization(around, cause_of(around), 1)
        if found.needed_by is not None:
            self._is_full = False  # those before, which left something
            yield from self._groups(found.needed_by)

    def _legalization(self, one: Legalization, cause: Cause, depth: int) -> Iterator[str]:
        indent = "  " * depth
        if one.text is not None:
            yield f"{indent}{self._one_line(one.text, indent)}"
        else:
            yield f"{indent}{operation(one.id, one.op)}"
        if one.legality is not None:
            yield f"{indent}  {legality_words(one, self._is_full)}"
            yield from (f"{indent}    {line}" for line in said(one.said))
        for each in one.types:
            yield f"{indent}  its types must be legal: {failed_type(each)}"
            yield from (f"{indent}    {line}" for line in type_reasons(each))
        for left_out in one.left_out:
            names = ", ".join(each.name for each in left_out.generates) or "nothing"
            head = f"{indent}  {emphasize(self._context, '-', YELLOW)} {short_name(left_out.name)}"
            yield f"{head}: left out, as it generates {names}"
        telling = next((step.tried for step in cause.way if step.legalization is one), None)
        silent: list[TriedPattern] = []
        for tried in one.tried:
            if self._all or telling is None or rank(tried) <= rank(telling):
                yield from self._tried(tried, cause, depth + 1)
            elif is_silent(tried) and rank(tried) == rank(telling) + 1:
                silent.append(tried)
            else:
                self._hidden += 1
        if silent:
            names = ", ".join(f"{short_name(each.name)} #{each.ordinal}" for each in silent)
            mark = emphasize(self._context, "x", RED)
            yield f"{indent}  {mark} {names}: {result_words(silent[0])}"
        for user in one.users[:_MOST_USERS]:
            place = place_words(user.location)
            yield f"{indent}  needed by {operation(user.id, user.name)}{place}"

    def _tried(self, tried: TriedPattern, cause: Cause, depth: int) -> Iterator[str]:
        indent = "  " * depth
        number = f" #{tried.ordinal}" if tried.ordinal is not None else ""
        benefit = f", benefit {tried.benefit}" if tried.benefit is not None else ""
        letter, color = ("v", GREEN) if tried.result == "succeeded" else ("x", RED)
        mark = emphasize(self._context, letter, color)
        yield f"{indent}{mark} {short_name(tried.name)}{number}{benefit}: {result_words(tried)}"
        for each in tried.types[: None if self._all else 1]:
            yield f"{indent}    {failed_type(each)}"
            yield from (f"{indent}      {line}" for line in type_reasons(each))
        for reason in tried.reasons:
            if not reason.startswith("rolled back"):
                yield f'{indent}    "{reason}"'
        for generated in tried.generated:
            if not generated.legalized:
                yield from self._legalization(generated, cause, depth + 2)
            elif self._all:
                yield f"{indent}    {operation(generated.id, generated.op)} was legalized"

    # --- operations that were left ---

    def left(self, found: Explanation) -> list[str]:
        groups, untried = found.groups(), found.never_tried()
        lines = list(self._beside(found))
        if not groups and not untried:
            untold = f"up to now left {found.target}"
            if found.is_recorded:  # which does not hold operations without an attempt
                untold = f"that is recorded up to now tried a pattern on {found.target} in vain"
            lines.append(f"No dialect conversion {untold}.")
            if found.failed is not None:
                lines.append("One failed: 'explain' without an operation says why.")
            return lines
        lines += self._all_left(found)
        return [*lines, *untold_words(found), *self._hints(found)]

    def _beside(self, found: Explanation) -> Iterator[str]:
        for beside in found.beside:
            yield emphasize(self._context, beside_words(beside), BOLD)
            yield from (f"  {line}" for line in self._all_left(beside.why))

    def _all_left(self, found: Explanation) -> Iterator[str]:
        yield from self._groups(found)
        untried = found.never_tried() if self._all else found.left_now()
        for (conversion, left), later in _merged(untried, _key_of_untried):
            yield from self._untried(conversion, left, [each for each, _ in later])

    def _groups(self, found: Explanation) -> Iterator[str]:
        for group, later in _merged(found.groups(), _key_of_group):
            yield from self._group(group, [each.conversion for each in later])

    def _untried(
        self, conversion: Conversion, left: OperationsLeft, later: Sequence[Conversion]
    ) -> Iterator[str]:
        what = operation(left.id, left.name)
        if left.count > 1:
            what = f"{left.count:,} x {left.name}, first @{left.id}"
        yield emphasize(self._context, f"{what}: left by {conversion_words(conversion)}", BOLD)
        yield f"  {untried_words(conversion, left)}"
        yield from _likewise(later)
        for cast in left.casts:
            made = "made by it" if cast.made else "made before it"
            types = f"{_list(cast.source)} to {_list(cast.target)}"
            yield f"  {operation(cast.id, None)} from {types}, {made}:"
            yield from (f"  {line}" for line in _cast(cast))
        if left.casts and left.count > len(left.casts):
            yield f"  ... and {left.count - len(left.casts):,} more"

    def _group(self, group: LeftGroup, later: Sequence[Conversion]) -> Iterator[str]:
        first = group.first
        place = place_words(first.location)
        what = f"{operation(first.id, first.op)}{place}"
        if group.count > 1:
            what = f"{group.count:,} x {first.op}, first {operation(first.id, None)}{place}"
        failed = ", which failed" if group.conversion.failed else ""
        by = f"{conversion_words(group.conversion)}{failed}"
        yield emphasize(self._context, f"{what}: left by {by}", BOLD)
        yield f"  {group.cause.text}"
        yield from _likewise(later)
        yield from self._legalization(first, group.cause, 1)

    # --- helpers ---

    def _one_line(self, text: str, indent: str) -> str:
        """Return an operation in one line, in which the types, behind it, are kept if they fit."""
        width = self._context.width
        room = None if width is None else width - len(indent)
        return self._context.ir_view.shown(" ".join(text.split()), room, _cut_before_types)

    def _hints(self, found: Explanation) -> list[str]:
        hints: list[str] = []
        if self._hidden:
            hints.append(f"{counted(self._hidden, 'other pattern')}: --all shows them")
        if (silent := _silent_pattern(found)) is not None:
            hints.append(
                f"'why-not --native {silent}', at the prompt, finds the last condition in the "
                "pattern's code; without --native it compares with attempts that matched."
            )
        if found.target is None and found.cause is not None and found.cause.kind == "no pattern":
            hints.append(_APPLICABLE_HINT)
        if any(each.full is None for each in found.conversions):
            hints.append(_NO_TYPES_HINT)
        return [emphasize(self._context, hint, DIM) for hint in hints]


def _silent_pattern(found: Explanation) -> str | None:
    """Return a glob of the first pattern that gave no reason, where that is all that is known."""
    failed = found.cause if found.target is None else None
    causes = [each.cause for each in found.groups()] if failed is None else [failed]
    last = next((cause.way[-1] for cause in causes if cause.kind == "no reason"), None)
    if last is None or last.tried is None or found.is_recorded:
        return None
    name, template, _ = short_name(last.tried.name).partition("<")
    return f"{name}*" if template else name


def legality_words(one: Legalization, is_full: bool) -> str:
    """Return what the conversion target says of an operation."""
    if one.illegal is False and one.legality != "legal":
        unknown = _LEGALITY["unknown"]
        return f"{unknown}, and a full conversion leaves no such operation" if is_full else unknown
    return _LEGALITY[one.legality or "unknown"]


def _cast(cast: CastUnresolved | CastLeft) -> Iterator[str]:
    """Describe the operations at a cast; of a cast from before, not whether they were converted."""
    is_told = isinstance(cast, CastUnresolved) or cast.made
    if cast.definer is not None and cast.block is not None:
        where = f"{argument_words(cast.block)}{place_words(cast.block.location)}"
        yield f"  the value is {where}, of {_neighbour(cast.definer, False)}"
        for passer in cast.block.passed_by[:_MOST_USERS]:
            yield f"  passed by {_neighbour(passer, is_told)}"
    elif cast.definer is not None:
        what = "an argument of" if cast.argument else "given by"
        yield f"  the value is {what} {_neighbour(cast.definer, is_told)}"
    for user in cast.users[:_MOST_USERS]:
        yield f"  needed by {_neighbour(user, is_told)}"
    if not cast.users:
        yield "  needed by nothing"


def _merged(
    each: Sequence[_LeftT], key_of: Callable[[_LeftT], object]
) -> list[tuple[_LeftT, list[_LeftT]]]:
    """Return what conversions left, each with what later conversions left for the same reason: with
    the same key, which is None for what is shown alone.
    """
    found: list[tuple[_LeftT, list[_LeftT]]] = []
    first: dict[object, list[_LeftT]] = {}
    for one in each:
        key = key_of(one)
        if key in first:
            first[key].append(one)
        else:
            found.append((one, []))
            if key is not None:
                first[key] = found[-1][1]
    return found


def _key_of_group(group: LeftGroup) -> object:
    return (group.first.op, group.cause.text) if group.cause.kind == "no pattern" else None


def _key_of_untried(each: tuple[Conversion, OperationsLeft]) -> object:
    return None if each[1].casts else (each[1].name, untried_words(*each))


def _likewise(later: Sequence[Conversion]) -> Iterator[str]:
    if later:
        last = conversion_words(later[-1])
        yield f"  likewise in {counted(len(later), 'later conversion')}, up to {last}"


def untried_words(conversion: Conversion, left: OperationsLeft) -> str:
    """Return why a conversion tried no pattern for operations that were there at its end."""
    if conversion.failed is not False:
        return "the conversion failed, which takes back what it did"
    accepted = "the target accepts it, by a check"
    why = accepted if left.legality == "dynamic" else _LEGALITY[left.legality]
    return f"{why}, so that no pattern was tried"


def beside_words(beside: BesideCasts) -> str:
    """Return which operations next to casts were not converted."""
    first = beside.first
    what = f"{operation(first.id, first.name)}{place_words(first.location)} was"
    if beside.count > 1:
        place = place_words(first.location)
        what = f"{beside.count:,} x {first.name}, first @{first.id}{place}, were"
    return f"Casts are left as {what} not converted:"


def untold_words(found: Explanation) -> Iterator[str]:
    """Yield which operations are missing, if too many were left."""
    if untold := found.untold():
        counts = ", ".join(f"{count:,} x {name}" for name, count in untold.items())
        yield (
            f"left as well: {counts}. What was tried is kept for the first operations only: ask "
            "for one of the others by its id, such as @12."
        )


def _list(types: list[str]) -> str:
    return ", ".join(types) or "nothing"


def _neighbour(op: Neighbour, is_told: bool) -> str:
    place = place_words(op.location)
    converted = f", {'' if op.converted else 'not '}converted" if is_told else ""
    return f"{operation(op.id, op.name)}{place}{converted}"


_NO_REASON = ", and gave no reason"
_RESULTS = {
    None: "was being applied when the tool stopped",
    "rolled back": "matched, and was rolled back",
    "refused": "not tried, because it is being applied already",
    "succeeded": "succeeded",
}


def result_words(tried: TriedPattern) -> str:
    if tried.result == "failed" and is_silent(tried):
        return f"did not match{'; the agent cannot hear why' if tried.unheard else _NO_REASON}"
    if tried.result == "failed":
        return "did not match"
    return _RESULTS[tried.result]


def is_silent(tried: TriedPattern) -> bool:
    return tried.result == "failed" and not tried.reasons and not tried.types


def failed_type(failed: TypeFailed) -> str:
    """Return which converter does not convert which type."""
    return f"{failed.converter or 'the type converter'} does not convert {failed.type}"


def type_reasons(failed: TypeFailed) -> Iterator[str]:
    """Yield why a type does not convert, a line each."""
    yield from said(failed.said)
    what = failed.type
    if failed.part is not None and failed.part != what:
        what = failed.part
        yield f"nor {what}, which is a part of it"
    hows: dict[str, list[str]] = {}
    for similar in failed.similar:
        hows.setdefault(similar.how, []).append(similar.type)
    for how, types in hows.items():
        yield f"{how} it converts: {', '.join(types)}"


def said(output: str | None) -> list[str]:
    """Return what the tool said in its debug output, a line each."""
    return [f"debug output: {line}" for line in said_lines(output)]


def _note(text: str, location: str | None) -> str:
    return f"{known_place(location)}: {text}" if known_place(location) else text


def _cut_before_types(line: str, room: int) -> str:
    head, colon, types = line.rpartition(" : ")
    if not colon or 4 * len(types) > 3 * room:
        return shortened(line, room)
    return f"{shortened(head, room - len(types) - len(colon))}{colon}{types}"


def explanation_json(shown: ExplanationShown) -> object:
    found = shown.explanation
    cause = found.cause
    result: dict[str, object] = {
        "target": found.target,
        "sentence": headline(found) if found.target is None else None,
        "cause": None if cause is None else {"kind": cause.kind, "text": cause.text},
        "needed_by": None if found.needed_by is None else _left_json(found.needed_by),
        "other": msgspec.to_builtins(found.other),
        "conversions": msgspec.to_builtins(found.conversions),
        "casts": None if found.casts is None else _casts_json(found.casts),
    }
    if found.target is not None:
        result |= _all_left_json(found)
    return result


def _casts_json(casts: Explanation) -> dict[str, object]:
    conversions = msgspec.to_builtins(casts.conversions)
    return {**_all_left_json(casts), "conversions": conversions}


def _all_left_json(found: Explanation) -> dict[str, object]:
    beside = [
        {
            "op": each.first.name,
            "first": each.first.id,
            "count": each.count,
            "left": _left_json(each.why),
        }
        for each in found.beside
    ]
    return {"left": _left_json(found), "beside": beside}


def _left_json(found: Explanation) -> list[dict[str, object]]:
    return [
        {
            "conversion": group.conversion.ordinal,
            "op": group.first.op,
            "first": group.first.id,
            "count": group.count,
            "cause": {"kind": group.cause.kind, "text": group.cause.text},
        }
        for group in found.groups()
    ]


renders(ExplanationShown, explanation_text, explanation_json)
