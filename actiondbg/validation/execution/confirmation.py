"""Whether real runs show what an interpreter found: a function that does something else."""

from __future__ import annotations

import math
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from actiondbg.errors import IRNotParsed
from actiondbg.validation.agreement import Run
from actiondbg.validation.concrete.operation import POISON
from actiondbg.validation.domain import NotInterpreted
from actiondbg.validation.execution.harness import Test, make_test
from actiondbg.validation.execution.literals import Element, as_bits, bits_in
from actiondbg.validation.execution.lowerings import LOWERINGS, PLAIN, Lowering
from actiondbg.validation.execution.runner import Executed, NotLowered, Printed, Runner
from actiondbg.validation.execution.subject import NotRunnable, quoted
from actiondbg.validation.floats import from_bits
from actiondbg.validation.inputs import Input
from actiondbg.validation.machine import Elements, MemRef, RuntimeValue, indices_at
from actiondbg.validation.types import FloatType, IntegerType, signed

Verdict = Literal["confirmed", "differs", "same", "not run"]

# Bits of values by what they are, ``result 0``; None for poison.
Expected = Mapping[str, Sequence[int | None]]

_ULPS = 8  # the functions of libm are not those of the interpreter


@dataclass(frozen=True, slots=True)
class Confirmation:
    """What real runs of a function showed."""

    # ``confirmed``: the runs differ, and each does what the interpreter said; ``differs``: the runs
    # differ, but one does something else than the interpreter said; ``same``: no difference shows;
    # ``not run``: there were no runs.
    verdict: Verdict
    reason: str
    lowering: Lowering | None = None  # of these runs
    before: Executed | None = None  # what the function did before the action
    after: Executed | None = None
    tests: tuple[Test, Test] | None = None


def confirm(
    runner: Runner,
    before: str,
    after: str,
    symbol: str,
    input: Input,
    source: Run,
    target: Run | None,
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
        tests = make_test(before, symbol, [input]), make_test(after, symbol, [input])
        lowerings = available(LOWERINGS, runner)
    except (NotLowered, NotRunnable, NotInterpreted, IRNotParsed) as error:
        return Confirmation("not run", str(error))
    said = expected(source), expected(target) if target is not None else None
    best: Confirmation | None = None
    for lowering in lowerings:
        found = _run(runner, tests, lowering, *said)
        if found.verdict == "confirmed":
            return found
        if best is None or _RANK[found.verdict] < _RANK[best.verdict]:
            best = found
    assert best is not None
    return best


_RANK: dict[Verdict, int] = {"confirmed": 0, "differs": 1, "same": 2, "not run": 3}


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

    def result(verdict: Verdict, reason: str) -> Confirmation:
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


def _unlike(executed: Executed, said: Expected, where: Expected | None = None) -> str | None:
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
    before: Executed, after: Executed, source: Expected, target: Expected | None
) -> str | None:
    """Return a place that is not poison before, and differs after."""
    if before.text != after.text:
        return "what is printed"
    for left, right in zip(before.parts, after.parts, strict=False):
        if left.key != right.key or left.shape != right.shape:
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


def place(part: Printed, at: int) -> str:
    """Return the name of an element: ``result 0[1, 2]``."""
    return f"{part.key}{indices_at(at, part.shape)}" if part.shape else part.key


# --- what the interpreter says ---


def expected(run: Run) -> Expected:
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


def summary(executed: Executed) -> list[str]:
    """Return lines that say what a run did, as a test prints it, with floats as numbers, too."""
    if executed.failure:
        return [f"the function {executed.failure}"]
    lines = [f"prints {executed.text.strip()!r}"] if executed.text.strip() else []
    for part in executed.parts:
        shown = ", ".join(str(each) for each in _as_printed(part))
        more = ", ..." if len(part.bits) > _MOST_SHOWN else ""
        floats = ", ".join(f"{each!r}" for each in part.numbers()[:_MOST_SHOWN])
        also = f"  (as numbers: {floats}{more})" if isinstance(part.type, FloatType) else ""
        lines.append(f"{part.key}: {shown}{more}{also}")
    return lines


_MOST_SHOWN = 16


def _as_printed(part: Printed) -> list[int]:
    bits = part.bits[:_MOST_SHOWN]
    return [signed(each, 64) if bits_in(part.type) == 64 else each for each in bits]


def annotated(test: Test, title: str, commands: str, due: Executed, got: Executed | None) -> str:
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
