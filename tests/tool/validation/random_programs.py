"""Random programs of control flow, memory and affine operations that have defined behaviour."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from typing import TypeVar

_T = TypeVar("_T")
_WIDTHS = {"i8": 8, "i16": 16, "i32": 32, "i64": 64, "index": 64}
_PLAIN = ("addi", "subi", "muli", "andi", "ori", "xori", "minsi", "maxsi", "minui", "maxui")
_DIVISIONS = ("divsi", "divui", "remsi", "remui", "floordivsi", "ceildivsi", "ceildivui")
_PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
_AFFINE = (
    *("d0 + d1", "d0 * 3 - d1", "d0 mod 5", "d0 floordiv 3", "d0 ceildiv 4", "(d0 - d1) mod 7"),
    *("-d0 + d1 * 2 + 1", "(d0 + 3) floordiv 2 - d1 mod 4", "(d0 - 9) ceildiv 2"),
)


def random_program(seed: int) -> str:
    """Return a module whose ``@main`` prints a lot."""
    return join_programs([random_function(seed)])


def with_helpers(function: str) -> str:
    """Return a module with a function, and what it may call."""
    return f"{_HELPERS}\n{function}"


def join_programs(functions: Sequence[str]) -> str:
    """Return a module whose ``@main`` calls functions with the names ``@program0`` and so on."""
    names = [f"@program{number}" for number in range(len(functions))]
    bodies = [text.replace("@program", name) for text, name in zip(functions, names, strict=True)]
    calls = "\n".join(f"  func.call {name}() : () -> ()" for name in names)
    return "\n".join([_HELPERS, *bodies, f"func.func @main() {{\n{calls}\n  return\n}}\n"])


_HELPERS = """\
memref.global "private" constant @table : memref<5xi32> = dense<[3, -1, 4, 1, -5]>
memref.global "private" @state : memref<2x3xi32> = dense<7>
func.func @gcd(%a: i32, %b: i32) -> i32 {
  %zero = arith.constant 0 : i32
  %done = arith.cmpi eq, %b, %zero : i32
  cf.cond_br %done, ^end(%a : i32), ^more
^more:
  %rest = arith.remui %a, %b : i32
  %found = func.call @gcd(%b, %rest) : (i32, i32) -> i32
  cf.br ^end(%found : i32)
^end(%result: i32):
  return %result : i32
}
"""


def random_function(seed: int, *, has_arguments: bool = False) -> str:
    """Return ``func.func @program() {...}``, which prints.

    Args:
        seed: of the random choices.
        has_arguments: whether it has an argument of each type of integers.
    """
    return _Writer(random.Random(seed)).function(has_arguments=has_arguments)


class _Writer:
    """Writes a function; its values are known by type, as far as they are visible."""

    def __init__(self, random: random.Random) -> None:
        self._random = random
        self._lines: list[str] = []
        self._values: dict[str, list[str]] = {type: [] for type in _WIDTHS}
        self._memories: list[tuple[str, tuple[int, ...], str]] = []
        self._variables: list[str] = []  # of the affine loops around
        self._count = 0
        self._depth = 0

    def function(self, *, has_arguments: bool) -> str:
        arguments: list[str] = []
        if has_arguments:
            for type in _WIDTHS:
                arguments.append(f"%a{type}: {type}")
                self._values[type] += [f"%a{type}"] * 2
        for type in _WIDTHS:
            for _ in range(2):
                self._constant(type, self._random.choice((0, 1, 2, 3, 7, -1, -8, 100, -128, 127)))
        for _ in range(self._random.randint(6, 14)):
            self._statement()
            if self._random.random() < 0.2:
                self._blocks()
        for type in _WIDTHS:
            for value in self._values[type][-3:]:
                self._add(f"vector.print {value} : {type}")
        for name, shape, _ in self._memories:
            self._print_memory(name, shape)
        body = "\n".join(self._lines)
        return f"func.func @program({', '.join(arguments)}) {{\n{body}\n  return\n}}\n"

    # --- parts ---

    def _add(self, line: str) -> None:
        self._lines.append("  " + line)

    def _name(self) -> str:
        self._count += 1
        return f"%v{self._count}"

    def _new(self, text: str, type: str) -> str:
        name = self._name()
        self._add(f"{name} = {text}")
        self._values[type].append(name)
        return name

    def _constant(self, type: str, value: int) -> str:
        return self._new(f"arith.constant {value} : {type}", type)

    def _pick(self, type: str) -> str:
        return self._random.choice(self._values[type])

    def _type(self) -> str:
        return self._random.choice(tuple(_WIDTHS))

    @contextmanager
    def _scope(self):
        values = {type: list(names) for type, names in self._values.items()}
        memories = list(self._memories)
        self._depth += 1
        yield
        self._depth -= 1
        self._values = values
        self._memories = memories

    def _statement(self) -> None:
        simple = (self._binary, self._division, self._shift, self._compare, self._cast, self._apply)
        memory = (self._allocate, self._load, self._store, self._reshape, self._window, self._copy)
        control = (self._if, self._for, self._while, self._switch, self._parallel)
        affine = (self._affine_for, self._affine_if, self._affine_bound, self._delinearize)
        other = (self._call, self._table, self._region, self._affine_parallel, self._state)
        groups: list[tuple[Callable[[], None], ...]] = [simple, simple, memory, memory, other]
        if self._depth < 3:
            groups += [control, control, affine]
        self._random.choice(self._random.choice(groups))()

    def _body(self) -> None:
        for _ in range(self._random.randint(1, 4)):
            self._statement()

    # --- scalars ---

    def _binary(self) -> None:
        type = self._type()
        name = self._random.choice(_PLAIN)
        self._new(f"arith.{name} {self._pick(type)}, {self._pick(type)} : {type}", type)

    def _small(self, type: str, most: int) -> str:
        """Write a number from 1 to most + 1; most + 1 is a power of 2."""
        mask = self._constant(type, most)
        one = self._constant(type, 1)
        masked = self._new(f"arith.andi {self._pick(type)}, {mask} : {type}", type)
        return self._new(f"arith.addi {masked}, {one} : {type}", type)

    def _division(self) -> None:
        type = self._type()
        name = self._random.choice(_DIVISIONS)
        divisor = self._small(type, 7)
        self._new(f"arith.{name} {self._pick(type)}, {divisor} : {type}", type)

    def _shift(self) -> None:
        type = self._type()
        mask = self._constant(type, _WIDTHS[type] - 1)
        amount = self._new(f"arith.andi {self._pick(type)}, {mask} : {type}", type)
        name = self._random.choice(("shli", "shrsi", "shrui"))
        self._new(f"arith.{name} {self._pick(type)}, {amount} : {type}", type)

    def _condition(self) -> str:
        type = self._type()
        name = self._name()
        predicate = self._random.choice(_PREDICATES)
        operands = f"{self._pick(type)}, {self._pick(type)}"
        self._add(f"{name} = arith.cmpi {predicate}, {operands} : {type}")
        return name

    def _compare(self) -> None:
        condition = self._condition()
        type = self._type()
        self._new(
            f"arith.select {condition}, {self._pick(type)}, {self._pick(type)} : {type}", type
        )

    def _cast(self) -> None:
        source, target = self._random.sample(tuple(_WIDTHS), 2)
        if "index" in (source, target):
            name = self._random.choice(("index_cast", "index_castui"))
        elif _WIDTHS[source] < _WIDTHS[target]:
            name = self._random.choice(("extsi", "extui"))
        else:
            name = "trunci"
        self._new(f"arith.{name} {self._pick(source)} : {source} to {target}", target)

    def _bounded_index(self, size: int) -> str:
        limit = self._constant("index", size)
        return self._new(f"arith.remui {self._pick('index')}, {limit} : index", "index")

    def _apply(self) -> None:
        expression = self._random.choice(_AFFINE)
        operands = f"{self._bounded_index(50)}, {self._bounded_index(9)}"
        self._new(f"affine.apply affine_map<(d0, d1) -> ({expression})>({operands})", "index")

    def _affine_bound(self) -> None:
        name = self._random.choice(("min", "max"))
        results = ", ".join(self._random.sample(_AFFINE, 2))
        operands = f"{self._bounded_index(50)}, {self._bounded_index(9)}"
        self._new(f"affine.{name} affine_map<(d0, d1) -> ({results})>({operands})", "index")

    def _delinearize(self) -> None:
        name = self._name()
        size = self._small("index", 3)
        linear = self._pick("index")
        self._add(
            f"{name}:3 = affine.delinearize_index {linear} into ({size}, 5) : index, index, index"
        )
        parts = [f"{name}#{at}" for at in range(3)]
        self._values["index"].append(f"{name}#2")
        low = [self._bounded_index(size) for size in (9, 3, 5)]
        word = self._random.choice(("", "disjoint "))
        self._new(f"affine.linearize_index {word}[{', '.join(low)}] by (9, 3, 5) : index", "index")
        self._values["index"].append(parts[1])

    def _call(self) -> None:
        mask = self._constant("i32", 1023)
        left, right = (
            self._new(f"arith.andi {self._pick('i32')}, {mask} : i32", "i32") for _ in range(2)
        )
        self._new(f"func.call @gcd({left}, {right}) : (i32, i32) -> i32", "i32")

    # --- memory ---

    def _allocate(self) -> None:
        rank = self._random.randint(1, 3)
        shape = tuple(self._random.randint(1, 4) for _ in range(rank))
        dynamic = [self._random.random() < 0.4 for _ in shape]
        sizes = ", ".join(
            self._constant("index", size)
            for size, is_dynamic in zip(shape, dynamic, strict=True)
            if is_dynamic
        )
        text = "x".join(
            "?" if is_dynamic else str(size)
            for size, is_dynamic in zip(shape, dynamic, strict=True)
        )
        type = f"memref<{text}xi32>"
        name = self._name()
        # Memory of the stack is not taken in loops.
        kind = "alloca" if self._depth == 0 and self._random.random() < 0.3 else "alloc"
        self._add(f"{name} = memref.{kind}({sizes}) : {type}")
        whole = self._name()
        self._add(f"{whole} = memref.cast {name} : {type} to memref<{_text(shape)}xi32>")
        self._fill(whole, shape)
        self._memories.append((whole, shape, f"memref<{_text(shape)}xi32>"))

    def _fill(self, name: str, shape: tuple[int, ...]) -> None:
        bounds = [f"%i{self._depth}_{at}" for at in range(len(shape))]
        for variable, size in zip(bounds, shape, strict=True):
            self._add(f"affine.for {variable} = 0 to {size} {{")
        self._add(
            f"affine.store {self._pick('i32')}, {name}[{', '.join(bounds)}] "
            f": memref<{_text(shape)}xi32>"
        )
        self._lines.extend("  }" for _ in shape)

    def _print_memory(self, name: str, shape: tuple[int, ...]) -> None:
        type = next(type for known, _, type in self._memories if known == name)
        variables = [f"%p{self._name()[1:]}_{at}" for at in range(len(shape))]
        for variable, size in zip(variables, shape, strict=True):
            self._add(f"affine.for {variable} = 0 to {size} {{")
        value = self._name()
        self._add(f"{value} = memref.load {name}[{', '.join(variables)}] : {type}")
        self._add(f"vector.print {value} : i32")
        self._lines.extend("  }" for _ in shape)

    def _memory(self) -> tuple[str, tuple[int, ...], str]:
        if not self._memories:
            self._allocate()
        return self._random.choice(self._memories)

    def _indices(self, shape: tuple[int, ...]) -> str:
        return ", ".join(self._bounded_index(size) for size in shape)

    def _load(self) -> None:
        name, shape, type = self._memory()
        self._new(f"memref.load {name}[{self._indices(shape)}] : {type}", "i32")

    def _store(self) -> None:
        name, shape, type = self._memory()
        indices = self._indices(shape)
        if self._random.random() < 0.2:
            kind = self._random.choice(("addi", "andi", "maxs", "minu", "ori", "assign"))
            self._add(
                f"{self._name()} = memref.atomic_rmw {kind} {self._pick('i32')}, "
                f"{name}[{indices}] : (i32, {type}) -> i32"
            )
            return
        self._add(f"memref.store {self._pick('i32')}, {name}[{indices}] : {type}")

    def _window(self) -> None:
        name, shape, type = self._memory()
        sizes = [self._random.randint(1, size) for size in shape]
        starts = [
            self._random.randint(0, whole - size) for whole, size in zip(shape, sizes, strict=True)
        ]
        dynamic = [self._constant("index", start) for start in starts]
        result = f"memref<{_text(sizes)}xi32, strided<[{', '.join('?' * len(shape))}], offset: ?>>"
        window, cast = self._name(), self._name()
        places = (
            f"[{', '.join(dynamic)}] [{', '.join(map(str, sizes))}] [{', '.join('1' * len(shape))}]"
        )
        found = _strides(type, shape)
        middle = f"memref<{_text(sizes)}xi32, strided<[{', '.join(map(str, found))}], offset: ?>>"
        self._add(f"{window} = memref.subview {name}{places} : {type} to {middle}")
        self._add(f"{cast} = memref.cast {window} : {middle} to {result}")
        self._memories.append((cast, tuple(sizes), result))

    def _reshape(self) -> None:
        name, shape, type = self._memory()
        if "strided" in type:
            return
        result = self._name()
        kind = self._random.choice(("collapse", "transpose", "dim", "expand"))
        if kind == "dim":
            at = self._bounded_index(len(shape))
            self._new(f"memref.dim {name}, {at} : {type}", "index")
        elif kind == "transpose" and len(shape) == 2:
            strides = f"strided<[1, {shape[1]}]>"
            new = f"memref<{shape[1]}x{shape[0]}xi32, {strides}>"
            self._add(f"{result} = memref.transpose {name} (i, j) -> (j, i) : {type} to {new}")
            self._memories.append((result, (shape[1], shape[0]), new))
        elif kind == "collapse" and len(shape) >= 2:
            merged = (shape[0] * shape[1], *shape[2:])
            groups = "[[0, 1]" + "".join(f", [{at}]" for at in range(2, len(shape))) + "]"
            new = f"memref<{_text(merged)}xi32>"
            self._add(f"{result} = memref.collapse_shape {name} {groups} : {type} into {new}")
            self._memories.append((result, merged, new))
        elif kind == "expand" and len(shape) == 1 and shape[0] == 4:
            new = "memref<2x2xi32>"
            self._add(
                f"{result} = memref.expand_shape {name} [[0, 1]] output_shape [2, 2] "
                f": {type} into {new}"
            )
            self._memories.append((result, (2, 2), new))

    def _copy(self) -> None:
        name, shape, type = self._memory()
        result = self._name()
        new = f"memref<{_text(shape)}xi32>"
        self._add(f"{result} = memref.alloc() : {new}")
        self._add(f"memref.copy {name}, {result} : {type} to {new}")
        self._memories.append((result, shape, new))

    def _table(self) -> None:
        name = self._name()
        self._add(f"{name} = memref.get_global @table : memref<5xi32>")
        self._new(f"memref.load {name}[{self._bounded_index(5)}] : memref<5xi32>", "i32")

    def _state(self) -> None:
        name = self._name()
        self._add(f"{name} = memref.get_global @state : memref<2x3xi32>")
        self._memories.append((name, (2, 3), "memref<2x3xi32>"))

    # --- control ---

    def _if(self) -> None:
        condition = self._condition()
        type = self._type()
        name = self._name()
        self._add(f"{name} = scf.if {condition} -> {type} {{")
        self._yield("scf.yield", type)
        self._add("} else {")
        self._yield("scf.yield", type)
        self._add("}")
        self._values[type].append(name)

    def _yield(self, word: str, type: str) -> None:
        with self._scope():
            self._body()
            self._add(f"{word} {self._pick(type)} : {type}")

    def _for(self) -> None:
        type = self._type()
        counter = self._random.choice(("i8", "i32", "index"))
        lower = self._constant(counter, self._random.randint(-3, 3))
        is_unsigned = self._random.random() < 0.3
        if is_unsigned:
            lower = self._constant(counter, 1)
        upper = self._small(counter, 7)
        step = self._small(counter, 3)
        name, variable, carried = self._name(), self._name(), self._name()
        word = "unsigned " if is_unsigned else ""
        suffix = "" if counter == "index" else f" : {counter}"
        self._add(
            f"{name} = scf.for {word}{variable} = {lower} to {upper} step {step} "
            f"iter_args({carried} = {self._pick(type)}) -> ({type}){suffix} {{"
        )
        with self._scope():
            self._values[counter].append(variable)
            self._values[type].append(carried)
            self._body()
            self._add(f"scf.yield {self._pick(type)} : {type}")
        self._add("}")
        self._values[type].append(name)

    def _while(self) -> None:
        type = self._type()
        name, count, value, more = (self._name() for _ in range(4))
        start, limit = self._constant("i32", 0), self._small("i32", 3)
        one = self._constant("i32", 1)
        self._add(
            f"{name}:2 = scf.while ({count} = {start}, {value} = {self._pick(type)}) : "
            f"(i32, {type}) -> (i32, {type}) {{"
        )
        with self._scope():
            self._values["i32"].append(count)
            self._values[type].append(value)
            self._body()
            self._add(f"{more} = arith.cmpi slt, {count}, {limit} : i32")
            self._add(f"scf.condition({more}) {count}, {self._pick(type)} : i32, {type}")
        self._add("} do {")
        first, second, following = (self._name() for _ in range(3))
        self._add(f"^bb0({first}: i32, {second}: {type}):")
        with self._scope():
            self._values["i32"].append(first)
            self._values[type].append(second)
            self._body()
            self._add(f"{following} = arith.addi {first}, {one} : i32")
            self._add(f"scf.yield {following}, {self._pick(type)} : i32, {type}")
        self._add("}")
        self._values["i32"].append(f"{name}#0")
        self._values[type].append(f"{name}#1")

    def _switch(self) -> None:
        type = self._type()
        name = self._name()
        selector = self._bounded_index(4)
        self._add(f"{name} = scf.index_switch {selector} -> {type}")
        for case in ("case 1", "case 3", "default"):
            self._add(f"{case} {{")
            self._yield("scf.yield", type)
            self._add("}")
        self._values[type].append(name)

    def _parallel(self) -> None:
        type = self._type()
        name, first, second = (self._name() for _ in range(3))
        zero, one = self._constant("index", 0), self._constant("index", 1)
        high, wide = self._small("index", 3), self._small("index", 1)
        self._add(
            f"{name} = scf.parallel ({first}, {second}) = ({zero}, {zero}) to ({high}, {wide}) "
            f"step ({one}, {one}) init ({self._pick(type)}) -> {type} {{"
        )
        with self._scope():
            self._values["index"] += [first, second]
            for _ in range(3):
                self._random.choice((self._binary, self._division, self._cast, self._load))()
            left, right, both = (self._name() for _ in range(3))
            self._add(f"scf.reduce({self._pick(type)} : {type}) {{")
            self._add(f"^bb0({left}: {type}, {right}: {type}):")
            self._add(f"{both} = arith.{self._random.choice(_PLAIN[::2])} {left}, {right} : {type}")
            self._add(f"scf.reduce.return {both} : {type}")
            self._add("}")
        self._add("}")
        self._values[type].append(name)

    def _region(self) -> None:
        type = self._type()
        name, argument = self._name(), self._name()
        condition = self._condition()
        self._add(f"{name} = scf.execute_region -> {type} {{")
        one, two = self._pick(type), self._pick(type)
        label = name[1:]
        self._add(f"cf.cond_br {condition}, ^{label}({one} : {type}), ^{label}({two} : {type})")
        self._add(f"^{label}({argument}: {type}):")
        self._add(f"scf.yield {argument} : {type}")
        self._add("}")
        self._values[type].append(name)

    def _blocks(self) -> None:
        """Write a diamond of blocks, or a switch, at the level of the function."""
        type = self._type()
        label, argument = self._name()[1:], self._name()
        if self._random.random() < 0.5:
            flag = self._pick("i8")
            targets = (
                f"default: ^{label}a, 0: ^{label}b, 5: ^{label}({self._pick(type)} : {type}), "
                f"3: ^{label}b"
            )
            self._add(f"cf.switch {flag} : i8, [{targets}]")
        else:
            self._add(f"cf.cond_br {self._condition()}, ^{label}a, ^{label}b")
        for arm in "ab":
            self._lines.append(f"^{label}{arm}:")
            with self._scope():
                self._body()
                self._add(f"cf.br ^{label}({self._pick(type)} : {type})")
        self._lines.append(f"^{label}({argument}: {type}):")
        self._values[type].append(argument)

    # --- affine control ---

    def _dimension(self, size: int) -> str:
        """Return an index that affine operations may have as a dimension."""
        if self._depth == 0:
            return self._bounded_index(size)
        constant = self._constant("index", self._random.randrange(size))
        return self._random.choice([constant, *self._variables])

    def _affine_for(self) -> None:
        type = self._type()
        name, variable, carried = (self._name() for _ in range(3))
        bound = self._dimension(6)
        step = self._random.randint(1, 3)
        self._add(
            f"{name} = affine.for {variable} = max affine_map<(d0) -> (d0 - 4, 0)>({bound}) "
            f"to min affine_map<(d0) -> (d0 + 3, 6)>({bound}) step {step} "
            f"iter_args({carried} = {self._pick(type)}) -> ({type}) {{"
        )
        self._variables.append(variable)
        with self._scope():
            self._values["index"].append(variable)
            self._values[type].append(carried)
            self._body()
            self._add(f"affine.yield {self._pick(type)} : {type}")
        self._variables.pop()
        self._add("}")
        self._values[type].append(name)

    def _affine_if(self) -> None:
        type = self._type()
        name = self._name()
        operands = f"({self._dimension(9)}, {self._dimension(9)})"
        condition = self._random.choice(
            ("d0 - d1 >= 0", "d0 - 3 == 0", "d0 mod 2 == 0, d1 - 2 >= 0", "-d0 + d1 * 2 - 5 >= 0")
        )
        self._add(f"{name} = affine.if affine_set<(d0, d1) : ({condition})>{operands} -> {type} {{")
        self._yield("affine.yield", type)
        self._add("} else {")
        self._yield("affine.yield", type)
        self._add("}")
        self._values[type].append(name)

    def _affine_parallel(self) -> None:
        kind = self._random.choice(("addi", "muli", "ori", "andi"))
        name, first, second, value, item = (self._name() for _ in range(5))
        bound = self._dimension(4)
        self._add(
            f"{name} = affine.parallel ({first}, {second}) = (0, 1) to (min({bound}, 3), 5) "
            f'step (1, 2) reduce ("{kind}") -> i32 {{'
        )
        self._add(
            f"{value} = affine.apply affine_map<(d0, d1) -> (d0 * 5 + d1 - 6)>({first}, {second})"
        )
        self._add(f"{item} = arith.index_cast {value} : index to i32")
        self._add(f"affine.yield {item} : i32")
        self._add("}")
        self._values["i32"].append(name)


def _text(shape: Sequence[int]) -> str:
    return "x".join(map(str, shape))


def _strides(type: str, shape: Sequence[int]) -> list[object]:
    """Return the strides in a type's text, or those of a memref without a layout."""
    if "strided<[" in type:
        return list(type.partition("strided<[")[2].partition("]")[0].split(", "))
    strides: list[object] = []
    step = 1
    for size in reversed(shape):
        strides.insert(0, step)
        step *= size
    return strides
