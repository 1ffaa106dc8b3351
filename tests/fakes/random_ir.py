"""Random IR in the generic form, of operations that no dialect registers.

Strings, symbols, locations and names of attributes hold whatever means something elsewhere.
"""

from __future__ import annotations

import random

from actiondbg.ir.tokens import escaped

_PIECES = (
    *("a", "b c", "é", "%x = ", "%0", "@s", "#a", "!t", "^bb0:"),
    *("arith.addi", "module", "sym_name"),
    *("//", "{", "}", "(", ")", "[", "]", "<", ">", "->", " = ", "::", "{-#", "#-}", '"}', '"'),
    *("\\", "\n", "\t", 'loc("f":1:2)'),
)
_TYPES = (
    *("i32", "f32", "index", "none", "complex<f32>", "tuple<i1, i2>", "tensor<4x?xf32>"),
    *("memref<2xi8, strided<[1], offset: ?>>", "vector<[4]xf32>", "(i32) -> (f32, i1)"),
    *('!foo.bar<"a}b">', "tensor<2xf32, #foo.enc<{a = 1}>>"),
)
_ATTRIBUTES = (
    *("unit", "true", "1.5 : f32", "0x7FC00000 : f32", "-3 : i32", "dense<[1, 2]> : tensor<2xi32>"),
    *('dense<"0x01000000"> : tensor<1xi32>', "array<i32: 1, 2>", '#foo.bar<"x}y">', '@s::@"a b"'),
    *("affine_map<(d0) -> (d0 + 1)>", "affine_set<(d0) : (d0 >= 0)>"),
)
_KEYS = ("a", "foo.bar", "x_y", "value", "in", "to", "loc", '"odd key"', '"a=b"', '"//"')
_OPERATIONS = ("foo.op", "test.a_b.c", "my.func", "gg.module_x", "weird", "x.return", "x.yield")
_STEMS = ("v", "a-b.", "x$", "_", "c0_i32_", "")
_DEEPEST = 3
_Values = list[tuple[str, str]]  # names and types


class RandomIR:
    """Makes a module.

    Args:
        seed: of the random numbers.
    """

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._names = self._symbols = 0

    def module(self) -> str:
        """Return the text of a module."""
        lines = [self._operation(2, [], 0)[0] for _ in range(self._random.randint(1, 5))]
        return "".join(("module {\n", *lines, "}\n"))

    def _chance(self, of: float) -> bool:
        return self._random.random() < of

    def _string(self) -> str:
        return escaped("".join(self._random.choices(_PIECES, k=self._random.randint(0, 4))))

    def _value(self) -> str:
        self._names += 1
        return f"%{self._random.choice(_STEMS)}{self._names}"

    def _attribute(self, depth: int = 0) -> str:
        kind = self._random.randint(0, 5 if depth < _DEEPEST else 3)
        if kind == 0:
            return f'"{self._string()}"'
        if kind == 1:
            return f'@"{self._string() or "q"}"'
        if kind == 2:
            return self._random.choice(_ATTRIBUTES)
        if kind == 3:
            return self._random.choice(_TYPES)
        if kind == 4:
            inside = [self._attribute(depth + 1) for _ in range(self._random.randint(0, 3))]
            return f"[{', '.join(inside)}]"
        return f"{{{', '.join(self._entries(depth + 1))}}}"

    def _entries(self, depth: int = 0) -> list[str]:
        keys = dict.fromkeys(self._random.choices(_KEYS, k=self._random.randint(0, 3)))
        return [
            key if self._chance(0.15) else f"{key} = {self._attribute(depth + 1)}" for key in keys
        ]

    def _location(self, depth: int = 0) -> str:
        kind = self._random.randint(0, 5 if depth < _DEEPEST else 2)
        if kind == 0:
            return "unknown"
        if kind == 1:
            return f'"{self._string()}":{self._random.randint(1, 99)}:{self._random.randint(1, 99)}'
        if kind == 2:
            return f'"{self._string() or "n"}"'
        if kind == 3:
            return f"callsite({self._location(depth + 1)} at {self._location(depth + 1)})"
        metadata = "" if kind == 4 else f'<"{self._string()}">'
        return f'fused{metadata}["f.mlir":1:2, {self._location(depth + 1)}]'

    def _operation(self, indent: int, visible: _Values, depth: int) -> tuple[str, _Values]:
        results = [
            (self._value(), self._random.choice((1, 1, 1, 3)))
            for _ in range(self._random.choice((0, 1, 1, 2)))
        ]
        operands = self._random.choices(visible, k=self._random.randint(0, 2)) if visible else []
        types = [self._random.choice(_TYPES) for _, count in results for _ in range(count)]
        names = [
            name if count == 1 else f"{name}#{number}"
            for name, count in results
            for number in range(count)
        ]
        text = ", ".join(name if count == 1 else f"{name}:{count}" for name, count in results)
        text += " = " if results else ""
        text += f'"{self._random.choice(_OPERATIONS)}"({", ".join(name for name, _ in operands)})'
        if depth < _DEEPEST and self._chance(0.35):
            regions = [
                self._region(indent, visible, depth) for _ in range(self._random.choice((1, 1, 2)))
            ]
            text += f" ({', '.join(regions)})"
        entries = self._entries() if self._chance(0.5) else []
        if self._chance(0.2):
            self._symbols += 1
            entries.append(f'sym_name = "{self._string()}{self._symbols}"')
        text += f" {{{', '.join(entries)}}}" if entries else ""
        text += f" : ({', '.join(each for _, each in operands)}) -> ({', '.join(types)})"
        text += f" loc({self._location()})" if self._chance(0.6) else ""
        return f"{' ' * indent}{text}\n", list(zip(names, types, strict=True))

    def _region(self, indent: int, visible: _Values, depth: int) -> str:
        text = "" if self._chance(0.1) else self._block(indent, visible, depth)
        if text and self._chance(0.4):
            arguments = [
                (self._value(), self._random.choice(_TYPES))
                for _ in range(self._random.randint(0, 2))
            ]
            listed = ", ".join(f"{name}: {type}" for name, type in arguments)
            label = f"^bb{self._random.randint(0, 99)}{f'({listed})' if arguments else ''}:"
            text += f"{' ' * indent}{label}\n"
            text += self._block(indent, [*visible, *arguments], depth)
        return f"{{\n{text}{' ' * indent}}}"

    def _block(self, indent: int, visible: _Values, depth: int) -> str:
        text, known = "", list(visible)
        for _ in range(self._random.randint(1, 4)):
            line, defined = self._operation(indent + 2, known, depth + 1)
            text += line
            known += defined
        return text
