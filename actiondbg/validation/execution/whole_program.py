"""Programs judged by real runs alone, where the interpreter cannot run them."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from actiondbg.errors import IRNotParsed
from actiondbg.validation.domain import NotInterpreted
from actiondbg.validation.execution.confirmation import epsilon, place
from actiondbg.validation.execution.harness import Test, make_test
from actiondbg.validation.execution.literals import Element
from actiondbg.validation.execution.lowerings import CHECKED, CONSTANTS, OTHER, PLAIN, Lowering
from actiondbg.validation.execution.runner import Executed, NotLowered, Printed, Runner
from actiondbg.validation.execution.subject import NotRunnable, Subject, read_subject
from actiondbg.validation.inputs import Array, Input, Number, View
from actiondbg.validation.strictness import Strictness
from actiondbg.validation.types import FloatType, IntegerType, ShapedType, Type

# Bytes for fresh memory and the stack: what is read before it is written differs between them.
_FILLS = (0x55, 0xAA)
_SAFETY = 8  # times the deviation that rounding is expected to make
# Beyond these, another order of operations may overflow.
_MODEST = {"f16": 16.0, "bf16": 1e4, "f32": 1e4, "f64": 1e4}

_MOST_CONSTANT = 4  # inputs that are tried by constant propagation, each alone
# What may be poison, as far as the text tells: a real run gives some number for it.
_POISON = re.compile(
    r"\b(?:overflow|exact|nneg|disjoint|inbounds|nnan|ninf|fast|is_zero_poison|undef|restrict)\b"
    r"|\b\w+\.(?:intr\.)?assume\w*"
    r"|\b\w+\.(?:shl|shr|lshr|ashr|shli|shrsi|shrui|shrs|shru|fptosi|fptoui|poison)\b"
    r"|\bmath\.(?:fpowi|ipowi)\b"
    r"|\bvector\.(?:extract|insert)\b[^:]*\[[^]:]*%"
)
_LOOSE = Strictness(bits=False, zeros=False)
# Accesses that no check is made for; data as indices may lead anywhere.
_INDIRECT = re.compile(r"\bvector\.(?:gather|scatter)\b|\bllvm\.(?:load|store|getelementptr)\b")
_UNCHECKED = re.compile(
    r"\bvector\.(?:transfer_read|transfer_write|load|store|maskedload|maskedstore|expandload"
    r"|compressstore)\b"
)


@dataclass(frozen=True, slots=True)
class Same:
    """No difference was seen."""

    inputs: tuple[Input, ...]  # with which the function ran, before and after


@dataclass(frozen=True, slots=True)
class Differs:
    """The function does something else."""

    input: Input
    before: Executed  # what it did before
    after: Executed
    where: str  # the first place that differs, with both values
    tests: tuple[Test, Test]  # the tests of this input, before and after


@dataclass(frozen=True, slots=True)
class NotRun:
    """Nothing is known."""

    reason: str


def judge_by_running(
    runner: Runner,
    before: str,
    after: str,
    symbol: str,
    inputs: Sequence[Input],
    strictness: Strictness = _LOOSE,
    suspect: str = "",
) -> Same | Differs | NotRun:
    """Run a function with inputs, as it was before an action and as it is after it.

    An input does not count where the function as it was before fails, or leaves its memory. Values
    that differ between two runs of it are not compared, as they are those of memory that nobody
    wrote.

    Args:
        runner: of the tests.
        before: the module before the action.
        after: the module after it.
        symbol: the function.
        inputs: what it is called with.
        strictness: how exactly results must agree.
        suspect: the name of the pass that the action belongs to. If it lowers the function, too,
            runs say little.
    """
    try:
        comparison = _Comparison(runner, before, after, symbol, strictness)
        found = comparison.judge(list(inputs))
        if not isinstance(found, Same) or not _lowers(suspect):
            return found
        different = comparison.judge_by_constants(found.inputs)
        return different or NotRun(
            f"{suspect} is part of the lowering, too, by which both do the same"
        )
    except (NotRunnable, NotLowered, NotInterpreted, IRNotParsed) as error:
        return NotRun(str(error))


class _Comparison:
    """Compares a function before and after an action."""

    def __init__(
        self, runner: Runner, before: str, after: str, symbol: str, strictness: Strictness
    ) -> None:
        self._runner = runner
        self._before = before
        self._after = after
        self._symbol = symbol
        self._strictness = strictness
        self._is_checked = True
        self._subject = read_subject(before, symbol)
        types = (*self._subject.inputs, *self._subject.results)
        self._elements = max((_elements(each) for each in types), default=1)

    def judge(self, inputs: list[Input]) -> Same | Differs | NotRun:
        inputs, why = self._defined(inputs)
        if not inputs:
            return NotRun(why or "there are no inputs")
        befores = self._twice(self._before, inputs)
        good = [not one.failure and not two.failure for one, two in befores]
        if not any(good):
            return NotRun(f"the function as it was before {befores[0][0].failure}")
        inputs = [each for each, is_good in zip(inputs, good, strict=True) if is_good]
        befores = [each for each, is_good in zip(befores, good, strict=True) if is_good]
        afters = self._twice(self._after, inputs)
        for input, two, other_two in zip(inputs, befores, afters, strict=True):
            for after in other_two:
                if after.failure:  # it may be the lowering's
                    return NotRun(f"the function as it is after {after.failure}")
                where = self._difference(two, after, self._scale(input))
                if where:
                    return self._found(input, two[0], after, where)
        return Same(tuple(inputs))

    def judge_by_constants(self, inputs: Sequence[Input]) -> Differs | NotRun | None:
        """Return a difference that constant propagation shows before any lowering."""
        for input in inputs[:_MOST_CONSTANT]:
            before = self._twice(self._before, [input], CONSTANTS)[0]
            for after in self._twice(self._after, [input], CONSTANTS)[0]:
                where = self._difference(before, after, self._scale(input))
                if where and not before[0].failure:
                    return self._found(input, before[0], after, where, CONSTANTS)
        return None

    # --- runs ---

    def _defined(self, inputs: list[Input]) -> tuple[list[Input], str]:
        """Return the inputs with which the function leaves no memory, and why others do."""
        test = make_test(self._before, self._symbol, inputs)
        try:
            runs = self._runner.run(test, CHECKED)
        except NotLowered:
            self._is_checked = False
            return inputs, ""
        kept = [each for each, run in zip(inputs, runs, strict=True) if not run.failure]
        failures = [run.failure for run in runs if run.failure]
        return kept, f"the function as it was before {failures[0]}" if failures else ""

    def _twice(
        self, text: str, inputs: list[Input], lowering: Lowering = PLAIN
    ) -> list[tuple[Executed, Executed]]:
        test = make_test(text, self._symbol, inputs, fill=True)
        lowered = self._runner.lower(test, lowering)
        one, two = (
            self._runner.execute(lowered, test, lowering, _perturbed(fill)) for fill in _FILLS
        )
        return list(zip(one, two, strict=True))

    def _found(
        self, input: Input, before: Executed, after: Executed, where: str, by: Lowering = PLAIN
    ) -> Differs | NotRun:
        """Doubt a difference: the program may be open, or the lowering at fault."""
        doubt = _doubt(self._subject)
        if not self._is_checked:
            doubt = doubt or "accesses of memory that cannot be checked"
        if doubt:
            return NotRun(f"{where}, but that may be undefined before: it has {doubt}")
        if by is PLAIN and not self._is_seen(input, OTHER):
            return NotRun(f"{where}, but not by {OTHER.name}")
        tests = tuple(
            make_test(text, self._symbol, [input]) for text in (self._before, self._after)
        )
        return Differs(input, before, after, where, (tests[0], tests[1]))

    def _is_seen(self, input: Input, lowering: Lowering) -> bool:
        """Whether a difference is seen by another lowering, too; yes if it does not apply."""
        try:
            before = self._twice(self._before, [input], lowering)[0]
            afters = self._twice(self._after, [input], lowering)[0]
        except NotLowered:
            return True
        if before[0].failure:
            return True
        scale = self._scale(input)
        return any(self._difference(before, after, scale) for after in afters)

    # --- comparison ---

    def _scale(self, input: Input) -> _Scale:
        counts = [1]
        largest = 1.0
        for argument in input.arguments:
            values: Sequence[Number] = ()
            match argument:
                case Array():
                    values = argument.values
                case View():
                    values = input.buffers[argument.buffer]
                case _:
                    values = (argument,)
            counts.append(len(values))
            numbers = [abs(float(value)) for value in values if math.isfinite(value)]
            largest = max(largest, *numbers, 0.0)
            if len(numbers) < len(values):
                largest = math.inf
        return _Scale(max(*counts, self._elements), largest)

    def _difference(
        self, before: tuple[Executed, Executed], after: Executed, scale: _Scale
    ) -> str | None:
        if after.failure:
            return f"the function as it is after {after.failure}"
        one, two = before
        if one.text == two.text and one.text != after.text:
            return f"printed {one.text.strip()!r} before, {after.text.strip()!r} after"
        for left, again, right in zip(one.parts, two.parts, after.parts, strict=False):
            if left.key != right.key:
                return f"{left.key} became {right.key}"
            if left.shape != again.shape:
                continue
            if left.shape != right.shape:
                return f"{left.key} has sizes {left.shape} before, {right.shape} after"
            where = self._part(left, again, right, scale)
            if where:
                return where
        return None

    def _part(self, left: Printed, again: Printed, right: Printed, scale: _Scale) -> str | None:
        if left.bits == right.bits:
            return None
        check = _Check(left, scale, self._strictness)
        was, now = left.numbers(), right.numbers()
        rows = zip(left.bits, again.bits, right.bits, was, now, strict=True)
        for at, (one, two, other, old, new) in enumerate(rows):
            if one == two and one != other and not check.agrees(old, new):
                return f"{place(left, at)}: {old} before, {new} after"
        return None


@dataclass(frozen=True, slots=True)
class _Scale:
    """How much rounding an input may cause."""

    count: int  # of the elements that may be summed up
    largest: float  # absolute value of the input; infinite if an element is


class _Check:
    """Compares elements of a part, with a tolerance that the count of operations gives."""

    def __init__(self, part: Printed, scale: _Scale, strictness: Strictness) -> None:
        self._type: Element = part.type
        self._strictness = strictness
        self._modest = False
        self._near = 0.0
        if not isinstance(part.type, FloatType) or strictness.bits:
            return
        finite = [abs(each) for each in part.numbers() if math.isfinite(each)]
        magnitude = max([scale.largest if math.isfinite(scale.largest) else 1.0, *finite])
        # The errors of roundings are independent: they grow as the root of their count.
        self._near = _SAFETY * epsilon(part.type) * math.sqrt(scale.count) * magnitude
        self._modest = scale.largest <= _MODEST.get(part.type.name, 0.0)

    def agrees(self, old: Number, new: Number) -> bool:
        """Whether two numbers with different bits count as the same."""
        if not isinstance(self._type, FloatType):
            return False
        if math.isnan(old) and math.isnan(new):
            return True
        if self._strictness.bits:
            return old == new and not self._strictness.zeros
        if not math.isfinite(old) or not math.isfinite(new):
            return old == new or not self._modest
        return abs(old - new) <= self._near


def _perturbed(fill: int) -> dict[str, str]:
    """Return what makes glibc fill fresh memory; its caches of small blocks would not."""
    tunables = "glibc.malloc.tcache_count=0"
    return {"MALLOC_PERTURB_": str(fill), "GLIBC_TUNABLES": tunables}


def _lowers(suspect: str) -> bool:
    """Whether a pass is part of the plain lowering."""
    return (
        bool(suspect)
        and re.search(rf"(?<![\w-]){re.escape(suspect)}(?![\w-])", PLAIN.pipeline) is not None
    )


def _doubt(subject: Subject) -> str | None:
    """Return what may have no defined behaviour in a function, where no run shows that."""
    text = subject.module
    doubts = [_POISON.search(text), _INDIRECT.search(text)]
    if "index_cast" in text or any(map(_is_control, subject.inputs)):
        doubts.append(_UNCHECKED.search(text))
    return next((each[0].strip() for each in doubts if each), None)


def _is_control(type: Type) -> bool:
    """Whether an argument may tell where to access memory."""
    if isinstance(type, ShapedType):
        element = type.element
        return None in type.shape or (isinstance(element, IntegerType) and element.is_index)
    return isinstance(type, IntegerType) and type.width > 1


def _elements(type: Type) -> int:
    return prod(size or 1 for size in type.shape) if isinstance(type, ShapedType) else 1
