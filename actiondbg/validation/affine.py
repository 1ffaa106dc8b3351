"""Affine maps and integer sets, read from MLIR's text."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

# As Python's operators have the precedence of MLIR's: * // @ and % bind alike, from the left.
_SPELLING = ((" floordiv ", " // "), (" ceildiv ", " @ "), (" mod ", " % "))
_OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.FloorDiv: "floordiv",
    ast.MatMult: "ceildiv",
    ast.Mod: "mod",
}
_MAP = re.compile(r"\(([^()]*)\)(?:\[([^\]]*)\])? *(->|:) *\((.*)\)>?$", re.DOTALL)
_CONSTRAINT = re.compile(r"(.*?) *(>=|==) *0$", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Expression:
    """An affine expression."""

    # ``constant``, ``input``, or the name of a binary operation: ``add``, ``sub``, ``mul``,
    # ``floordiv``, ``ceildiv``, ``mod``.
    kind: str
    value: int = 0  # of a constant; of an input its number, dimensions first, then symbols
    operands: tuple[Expression, ...] = ()  # two of a binary operation

    def evaluate(self, inputs: Sequence[int]) -> int:
        """Return the value for integers."""
        if self.kind == "constant":
            return self.value
        if self.kind == "input":
            return inputs[self.value]
        left, right = (operand.evaluate(inputs) for operand in self.operands)
        return _EVALUATED[self.kind](left, right)


_EVALUATED: dict[str, Callable[[int, int], int]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "floordiv": lambda left, right: left // right,
    "ceildiv": lambda left, right: -(-left // right),
    "mod": operator.mod,
}


@dataclass(frozen=True, slots=True)
class AffineMap:
    """A map from dimensions and symbols to results."""

    dimensions: int
    symbols: int
    results: tuple[Expression, ...]

    def evaluate(self, inputs: Sequence[int]) -> tuple[int, ...]:
        """Return the results; inputs are the dimensions, then the symbols."""
        return tuple(result.evaluate(inputs) for result in self.results)


@dataclass(frozen=True, slots=True)
class IntegerSet:
    """The inputs for which each constraint is at least 0, or equal to 0."""

    dimensions: int
    symbols: int
    # Expressions, each with whether it is an equality.
    constraints: tuple[tuple[Expression, bool], ...]


@lru_cache(4096)
def parse_affine(text: str) -> AffineMap | IntegerSet:
    """Read ``affine_map<...>``, ``affine_set<...>``, or what is between the angle brackets.

    Raises:
        ValueError: the text is neither.
    """
    inner = text.partition("<")[2] if text.startswith("affine_") else text
    matched = _MAP.fullmatch(inner.strip())
    if matched is None:
        raise ValueError(f"{text!r} is no affine map and no integer set.")
    dimensions, symbols = (_names(part or "") for part in matched.group(1, 2))
    numbers = {name: number for number, name in enumerate((*dimensions, *symbols))}
    body = matched[4].strip()
    if matched[3] == "->":
        tree = ast.parse(f"({_spelled(body)},)" if body else "()", mode="eval").body
        assert isinstance(tree, ast.Tuple)
        results = tuple(_expression(element, numbers) for element in tree.elts)
        return AffineMap(len(dimensions), len(symbols), results)
    constraints: list[tuple[Expression, bool]] = []
    for part in body.split(","):
        found = _CONSTRAINT.fullmatch(part.strip())
        if found is None:
            raise ValueError(f"{part!r} is no affine constraint.")
        tree = ast.parse(_spelled(found[1]), mode="eval").body
        constraints.append((_expression(tree, numbers), found[2] == "=="))
    return IntegerSet(len(dimensions), len(symbols), tuple(constraints))


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _spelled(text: str) -> str:
    for name, sign in _SPELLING:
        text = text.replace(name, sign)
    return text


def _expression(tree: ast.expr, numbers: dict[str, int]) -> Expression:
    match tree:
        case ast.Constant(value=int(value)):
            return Expression("constant", value)
        case ast.Name(id=name) if name in numbers:
            return Expression("input", numbers[name])
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(value))):
            return Expression("constant", -value)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            minus = Expression("constant", -1)
            return Expression("mul", operands=(_expression(operand, numbers), minus))
        case ast.BinOp(left=left, op=sign, right=right) if type(sign) in _OPERATORS:
            operands = (_expression(left, numbers), _expression(right, numbers))
            return Expression(_OPERATORS[type(sign)], operands=operands)
        case _:
            raise ValueError(f"{ast.unparse(tree)!r} is no affine expression.")
