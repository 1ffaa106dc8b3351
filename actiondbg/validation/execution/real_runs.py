"""What real runs show: whether a function does something else."""

from __future__ import annotations

import math
import re
import shutil
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Literal

from actiondbg.errors import IRNotParsed
from actiondbg.validation.agreement import FunctionRun
from actiondbg.validation.domain import POISON, NotInterpreted
from actiondbg.validation.execution.harness import Element, Test, as_bits, bits_in, make_test
from actiondbg.validation.execution.lowerings import (
    CHECKED,
    CONSTANTS,
    LOWERINGS,
    OTHER,
    OTHER_WITHOUT_FOLDS,
    PLAIN,
    WITHOUT_FOLDS,
    Lowering,
)
from actiondbg.validation.execution.runner import ExecutedCall, NotLowered, PrintedPart, Runner
from actiondbg.validation.execution.tested_function import (
    NotTestable,
    TestedFunction,
    quoted,
    read_tested_function,
)
from actiondbg.validation.floats import from_bits
from actiondbg.validation.inputs import Array, Input, Number, View
from actiondbg.validation.machine import Elements, MemRef, RuntimeValue, indices_at
from actiondbg.validation.strictness import Strictness
from actiondbg.validation.types import FloatType, IntegerType, ShapedType, Type, signed

ConfirmationKind = Literal["confirmed", "differs", "same", "not run"]

# Bits of values by what they are, ``result 0``; None for poison.
Expected = Mapping[str, Sequence[int | None]]

_ULPS = 8  # the functions of libm are not those of the interpreter


@dataclass(frozen=True, slots=True)
class Confirmation:
    """What real runs of a function showed."""

    # ``confirmed``: the runs differ, and each does what the interpreter said; ``differs``: the runs
    # differ, but one does something else than the interpreter said; ``same``: no difference shows;
    # ``not run``: there were no runs.
    verdict: ConfirmationKind
    reason: str
    lowering: Lowering | None = None  # of these runs
    before: ExecutedCall | None = None  # what the function did before the action
    after: ExecutedCall | None = None
    tests: tuple[Test, Test] | None = None


def confirm(
    runner: Runner,
    before: str,
    after: str,
    symbol: str,
    input: Input,
    source: FunctionRun,
    target: FunctionRun | None,
) -> Confirmation:
    """Run a function as it was before an action, and as it is after it.

    If the runs do not show the difference, the lowering may be at fault: then others are tried,
    which share few passes with it.

    Args:
        runner: of the tests.
        before: the module before the action.
        after: the module after it.
        symbol: the function.
        input: what it is called with.
        source: what the interpreter says that it did before; poison is not compared.
        target: what the interpreter says that it does after; None if that has no defined behaviour.
    """
    try:
        shown = source.outcome.globals
        one, other = (make_test(each, symbol, [input], shown=shown) for each in (before, after))
        lowerings = available(LOWERINGS, runner)
    except (NotLowered, NotTestable, NotInterpreted, IRNotParsed) as error:
        return Confirmation("not run", str(error))
    said = expected(source), expected(target) if target is not None else None
    best: Confirmation | None = None
    for lowering in lowerings:
        found = _run(runner, (one, other), lowering, *said)
        if found.verdict == "confirmed":
            return found
        if best is None or _RANK[found.verdict] < _RANK[best.verdict]:
            best = found
    assert best is not None
    return best


_RANK: dict[ConfirmationKind, int] = {"confirmed": 0, "differs": 1, "same": 2, "not run": 3}


def available(lowerings: Sequence[Lowering], runner: Runner) -> list[Lowering]:
    """Return the lowerings for which there are tools, and no others have the same ones."""
    found = shutil.which("mlir-opt")
    is_other = found is not None and not Path(found).samefile(runner.find("mlir-opt", PLAIN))
    return [each for each in lowerings if not each.of_path or is_other]


def _run(
    runner: Runner,
    tests: tuple[Test, Test],
    lowering: Lowering,
    source: Expected,
    target: Expected | None,
) -> Confirmation:
    try:
        before, after = (runner.run(test, lowering)[0] for test in tests)
    except NotLowered as error:
        return Confirmation("not run", str(error), lowering)

    def result(verdict: ConfirmationKind, reason: str) -> Confirmation:
        return Confirmation(verdict, reason, lowering, before, after, tests)

    if before.failure:
        return result("not run", f"the function as it was before {before.failure}")
    strange = _unlike(before, source)
    if after.failure:
        failure = f"the function as it is after {after.failure}"
        return result("differs" if target is not None or strange else "confirmed", failure)
    where = _difference(before, after, source, target)
    if where is None:
        return result("same", f"both runs do the same, by {lowering.name}")
    strange = strange or (_unlike(after, target, source) if target is not None else None)
    if strange:
        return result("differs", f"{where} differs, but {strange} is not as interpreted")
    return result("confirmed", f"{where} differs, by {lowering.name}")


def _unlike(executed: ExecutedCall, said: Expected, where: Expected | None = None) -> str | None:
    """Return a place at which a run does not do what the interpreter says.

    Only the places are compared that are not poison in ``where``, if that is given.
    """
    for part in executed.parts:
        defined = (where or said).get(part.key, ())
        items = said.get(part.key)
        if items is None:
            continue
        if len(items) != len(part.bits):
            return part.key
        for at, (item, bits) in enumerate(zip(items, part.bits, strict=True)):
            skipped = where is not None and (at >= len(defined) or defined[at] is None)
            if item is not None and not skipped and not near(item, bits, part.type):
                return place(part, at)
    return None


def _difference(
    before: ExecutedCall, after: ExecutedCall, source: Expected, target: Expected | None
) -> str | None:
    """Return a place that is not poison before, and differs after."""
    if before.text != after.text:
        return "what is printed"
    for left, right in _pairs(before, after):
        if left.shape != right.shape:
            return left.key
        items = source.get(left.key, ())
        others = (target or {}).get(left.key, ())
        for at, (one, other) in enumerate(zip(left.bits, right.bits, strict=True)):
            item = items[at] if at < len(items) else None
            if item is None or one == other:
                continue
            # The interpreter says whether a difference in the last bit matters.
            said = at < len(others) and others[at] != item
            if said or not near(one, other, left.type):
                return place(left, at)
    return None


def _pairs(before: ExecutedCall, after: ExecutedCall) -> Iterator[tuple[PrintedPart, PrintedPart]]:
    """Yield the parts that both calls print. Of a global in one program alone nothing is known."""
    parts = {each.key: each for each in after.parts}
    return ((each, parts[each.key]) for each in before.parts if each.key in parts)


def near(left: int, right: int, type: Element) -> bool:
    """Return whether two values are the same, by their bits, but for the last ones of floats."""
    if left == right or not isinstance(type, FloatType):
        return left == right
    one, other = from_bits(left, type), from_bits(right, type)
    if math.isnan(one) or math.isnan(other):
        return math.isnan(one) and math.isnan(other)
    return math.isclose(one, other, rel_tol=_ULPS * epsilon(type))


def epsilon(type: FloatType) -> float:
    """Return the distance from 1 to the next number."""
    one = as_bits(1.0, type)
    return from_bits(one + 1, type) - from_bits(one, type)


def place(part: PrintedPart, at: int) -> str:
    """Return the name of an element: ``result 0[1, 2]``."""
    return f"{part.key}{indices_at(at, part.shape)}" if part.shape else part.key


# --- what the interpreter says ---


def expected(run: FunctionRun) -> Expected:
    """Return what an interpreter's run did, by the keys of a test."""
    said: dict[str, Sequence[int | None]] = {}
    for at, value in enumerate(run.outcome.results):
        type = run.types[at]
        element = getattr(type, "element", type)
        said[f"result {at}"] = list(_bits(value, element))
    for at, buffer in enumerate(run.memory):
        if buffer is not None:
            said[f"memory {at}"] = _content(buffer.items, buffer.element, buffer.is_alive)
    for symbol, buffer in run.outcome.globals.items():
        key = f"global {quoted(symbol)}"
        said[key] = _content(buffer.items, buffer.element, buffer.is_alive)
    return said


def _content(items: Sequence[RuntimeValue], element: object, is_alive: bool) -> list[int | None]:
    if not is_alive or not isinstance(element, IntegerType | FloatType):
        return [None] * len(items)
    return [None if item is POISON else as_bits(item, element) for item in items]


def _bits(value: RuntimeValue, element: object) -> Iterator[int | None]:
    if isinstance(value, Elements):
        for item in value.items:
            yield from _bits(item, value.element)
    elif isinstance(value, MemRef):
        items = _content(value.buffer.items, value.buffer.element, value.buffer.is_alive)
        yield from (items[place] if 0 <= place < len(items) else None for place in value.places)
    elif value is POISON or not isinstance(element, IntegerType | FloatType):
        yield None
    else:
        yield as_bits(value, element)


# --- what a person reads ---


def summary(executed: ExecutedCall) -> list[str]:
    """Return lines that say what a run did, as a test prints it, with floats as numbers, too."""
    if executed.failure:
        return [f"the function {executed.failure}"]
    lines = [f"prints {executed.text.strip()!r}"] if executed.text.strip() else []
    for part in executed.parts:
        is_wide = bits_in(part.type) == 64
        bits = part.bits[:_MOST_SHOWN]
        shown = ", ".join(str(signed(each, 64) if is_wide else each) for each in bits)
        more = ", ..." if len(part.bits) > _MOST_SHOWN else ""
        floats = ", ".join(f"{each!r}" for each in part.numbers()[:_MOST_SHOWN])
        also = f"  (as numbers: {floats}{more})" if isinstance(part.type, FloatType) else ""
        lines.append(f"{part.key}: {shown}{more}{also}")
    return lines


_MOST_SHOWN = 16


def annotated(
    test: Test, title: str, commands: str, due: ExecutedCall, got: ExecutedCall | None
) -> str:
    """Return the text of a test for a person, with a comment on top.

    It has a title, the commands that run the test, and what is due; what it got, if that differs.
    """
    lines = [title, "", f"Run: {commands}", "", "Numbers are printed by their bits, unsigned up to"]
    lines[-1] += " 32 bits, and signed with 64."
    lines += ["Expected:", *(f"  {line}" for line in summary(due))]
    if got is not None:
        lines += ["Got:", *(f"  {line}" for line in summary(got))]
    head = "\n".join(f"// {line}".rstrip() for line in lines)
    return f"{head}\n\n{test.text}"


# --- programs that the interpreter cannot run ---


# Bytes for fresh memory and the stack: what is read before it is written differs between them.
_FILLS = (0x55, 0xAA)
_SAFETY = 8  # times the deviation that rounding is expected to make
# Beyond these, another order of operations may overflow.
_MODEST = {"f16": 16.0, "bf16": 1e4, "f32": 1e4, "f64": 1e4}

# By what a difference that a lowering shows is confirmed.
_SECOND = {
    PLAIN: (OTHER, WITHOUT_FOLDS),
    WITHOUT_FOLDS: (OTHER_WITHOUT_FOLDS,),
    CONSTANTS: (),
}
_MOST_CONSTANT = 4  # inputs that are tried by constant propagation, each alone
# What may be poison, as far as the text tells: a real run gives some number for it.
_POISON = re.compile(
    r"\b(?:(?<!with\.)overflow|exact|nneg|disjoint|inbounds|nnan|ninf|fast|undef|restrict)\b"
    r"|\bis_(?:zero|int_min)_poison\b(?! = false)"
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
# The lowering passes complex<f32> to a function of C in another way than C does.
_OTHER_ABI = re.compile(
    r"func\.func private @[^{\n]*complex<f32>[^{\n]*(?:attributes \{.*\})?$", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class Same:
    """No difference was seen."""

    inputs: tuple[Input, ...]  # with which the function ran, before and after


@dataclass(frozen=True, slots=True)
class Differs:
    """The function does something else."""

    input: Input
    before: ExecutedCall  # what it did before
    after: ExecutedCall
    where: str  # the first place that differs, with both values
    tests: tuple[Test, Test]  # the tests of this input, before and after
    lowering: Lowering = PLAIN  # which shows it


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
    shown: Collection[str] = (),
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
        shown: globals to compare, whether or not both programs use them.
    """
    if _OTHER_ABI.search(before) or _OTHER_ABI.search(after):
        return NotRun("a function of C with complex<f32> is not called as C calls it")
    try:
        comparison = _Comparison(runner, before, after, symbol, strictness, shown)
        found = comparison.judge(list(inputs))
        if isinstance(found, Same):
            found = comparison.judge_without_folds(found.inputs) or found
        if not isinstance(found, Same) or not _lowers(suspect):
            return found
        different = comparison.judge_by_constants(found.inputs)
        return different or NotRun(
            f"{suspect} is part of the lowering, too, by which both do the same"
        )
    except (NotTestable, NotLowered, NotInterpreted, IRNotParsed) as error:
        return NotRun(str(error))


class _Comparison:
    """Compares a function before and after an action."""

    def __init__(
        self,
        runner: Runner,
        before: str,
        after: str,
        symbol: str,
        strictness: Strictness,
        shown: Collection[str],
    ) -> None:
        self._runner = runner
        self._before = before
        self._after = after
        self._symbol = symbol
        self._strictness = strictness
        self._shown = shown
        self._is_checked = True
        self._tested = read_tested_function(before, symbol)
        types = (*self._tested.inputs, *self._tested.results)
        self._elements = max((_elements(each) for each in types), default=1)

    def judge(self, inputs: list[Input]) -> Same | Differs | NotRun:
        inputs, failure = self._defined(self._before, inputs)
        if not inputs:
            why = f"the function as it was before {failure}" if failure else "there are no inputs"
            return NotRun(why)
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
        failure = self._defined(self._after, inputs)[1] if self._is_checked else ""
        if failure:
            return NotRun(f"the function as it is after {failure}")
        return Same(tuple(inputs))

    def judge_by_constants(self, inputs: Sequence[Input]) -> Differs | NotRun | None:
        """Return a difference that constant propagation shows before any lowering."""
        found = (self._judge_by([each], CONSTANTS) for each in inputs[:_MOST_CONSTANT])
        return next(filter(None, found), None)

    def judge_without_folds(self, inputs: Sequence[Input]) -> Differs | NotRun | None:
        """Return a difference that folds of the lowering hide, or why it is not known."""
        try:
            return self._judge_by(inputs, WITHOUT_FOLDS)
        except NotLowered as error:
            return NotRun(f"its lowering may fold what the action does: {error}")

    def _judge_by(self, inputs: Sequence[Input], lowering: Lowering) -> Differs | NotRun | None:
        befores, afters = (
            self._twice(text, list(inputs), lowering) for text in (self._before, self._after)
        )
        for input, before, two in zip(inputs, befores, afters, strict=True):
            for after in two:
                where = self._difference(before, after, self._scale(input))
                if where and not before[0].failure:
                    return self._found(input, before[0], after, where, lowering)
        return None

    # --- runs ---

    def _defined(self, text: str, inputs: list[Input]) -> tuple[list[Input], str]:
        """Return the inputs with which the function leaves no memory, and how it does with one."""
        test = make_test(text, self._symbol, inputs)
        try:
            runs = self._runner.run(test, CHECKED)
        except NotLowered:
            self._is_checked = False
            return inputs, ""
        kept = [each for each, run in zip(inputs, runs, strict=True) if not run.failure]
        return kept, next((run.failure for run in runs if run.failure), "")

    def _twice(
        self, text: str, inputs: list[Input], lowering: Lowering = PLAIN
    ) -> list[tuple[ExecutedCall, ExecutedCall]]:
        test = make_test(text, self._symbol, inputs, fill=True, shown=self._shown)
        lowered = self._runner.lower(test, lowering)
        one, two = (
            self._runner.execute(lowered, test, lowering, _perturbed(fill)) for fill in _FILLS
        )
        return list(zip(one, two, strict=True))

    def _found(
        self,
        input: Input,
        before: ExecutedCall,
        after: ExecutedCall,
        where: str,
        by: Lowering = PLAIN,
    ) -> Differs | NotRun:
        """Doubt a difference: the program may be open, or the lowering at fault."""
        doubt = _doubt(self._tested)
        if not self._is_checked:
            doubt = doubt or "accesses of memory that cannot be checked"
        if doubt:
            return NotRun(f"{where}, but that may be undefined before: it has {doubt}")
        unseen = next(filter(None, (self._unseen(input, each) for each in _SECOND[by])), "")
        if unseen:
            return NotRun(f"{where}, but {unseen}")
        tests = tuple(
            make_test(text, self._symbol, [input], shown=self._shown)
            for text in (self._before, self._after)
        )
        return Differs(input, before, after, where, (tests[0], tests[1]), by)

    def _unseen(self, input: Input, lowering: Lowering) -> str:
        """Return why another lowering does not confirm a difference; "" if it does.

        Other passes may not apply; but what cannot be lowered without folds may owe all to them.
        """
        try:
            before = self._twice(self._before, [input], lowering)[0]
            afters = self._twice(self._after, [input], lowering)[0]
        except NotLowered as error:
            return str(error) if lowering is WITHOUT_FOLDS else ""
        scale = self._scale(input)
        if before[0].failure or any(self._difference(before, each, scale) for each in afters):
            return ""
        return f"not by {lowering.name}"

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
        self, before: tuple[ExecutedCall, ExecutedCall], after: ExecutedCall, scale: _Scale
    ) -> str | None:
        if after.failure:
            return f"the function as it is after {after.failure}"
        one, two = before
        if one.text == two.text and one.text != after.text:
            return f"printed {one.text.strip()!r} before, {after.text.strip()!r} after"
        for left, right in _pairs(one, after):
            again = two.part(left.key)
            if left.shape != again.shape:
                continue
            if left.shape != right.shape:
                return f"{left.key} has sizes {left.shape} before, {right.shape} after"
            where = self._part(left, again, right, scale)
            if where:
                return where
        return None

    def _part(
        self, left: PrintedPart, again: PrintedPart, right: PrintedPart, scale: _Scale
    ) -> str | None:
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

    def __init__(self, part: PrintedPart, scale: _Scale, strictness: Strictness) -> None:
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


def _doubt(tested: TestedFunction) -> str | None:
    """Return what may have no defined behaviour in a function, where no run shows that."""
    text = tested.module
    doubts = [_POISON.search(text), _INDIRECT.search(text)]
    if "index_cast" in text or any(map(_is_control, tested.inputs)):
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
