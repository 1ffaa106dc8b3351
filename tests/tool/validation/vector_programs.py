"""Programs of random operations on vectors, memory and tensors, each result printed."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from math import prod

Shape = tuple[int, ...]

_INTEGER_KINDS = ("add", "mul", "and", "or", "xor", "minsi", "minui", "maxsi", "maxui")
_WIDTHS = {"i8": 8, "i16": 16, "i32": 32, "i64": 64}
_ROWS, _COLUMNS = 4, 6


def program(seed: int, functions: int = 8, length: int = 14) -> str:
    """Return a module whose @main calls functions of random operations."""
    bodies = [
        _Writer(random.Random(seed * 1000 + at)).function(at, length) for at in range(functions)
    ]
    calls = "\n".join(f"  call @f{at}() : () -> ()" for at in range(functions))
    return "\n".join([*bodies, "func.func @main() {", calls, "  return", "}", ""])


class _Writer:
    """Writes a function."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._lines: list[str] = []
        self._vectors: list[tuple[str, Shape, str]] = []
        self._tensors: list[str] = []
        self._count = 0

    def function(self, number: int, length: int) -> str:
        for at in range(max(_ROWS, _COLUMNS) + 1):
            self._add(f"%c{at} = arith.constant {at} : index")
        self._add("%padding = arith.constant -7 : i32")
        self._add(f"%memory = memref.alloc() : memref<{_ROWS}x{_COLUMNS}xi32>")
        whole = (_ROWS, _COLUMNS)
        first = self._constant(whole, "i32")
        self._add(
            f"vector.transfer_write {first}, %memory[%c0, %c0] {{in_bounds = [true, true]}} : "
            f"{_vector(whole, 'i32')}, memref<{_ROWS}x{_COLUMNS}xi32>"
        )
        self._add(f"%tensor = arith.constant {self._dense(whole)} : tensor<{_ROWS}x{_COLUMNS}xi32>")
        self._tensors.append("%tensor")
        self._constant((3,), "i32")
        self._constant((2, 3), "i32")
        self._constant((4,), "i8")
        for _ in range(length):
            self._chance.choice(self._makers())()
        self._all_memory()
        body = "\n".join(f"  {line}" for line in self._lines)
        return f"func.func private @f{number}() {{\n{body}\n  return\n}}"

    def _makers(self) -> Sequence[Callable[[], None]]:
        return (
            *(self._extract, self._insert, self._dynamic_extract, self._dynamic_insert),
            *(self._broadcast, self._shape_cast, self._transpose, self._shuffle, self._bitcast),
            *(self._extract_slice, self._insert_slice, self._reduce, self._multi_reduce),
            *(self._interleave, self._deinterleave, self._contract, self._outer_product),
            *(self._transfer_read, self._transfer_write, self._transfer_read, self._gather),
            *(self._masked_load, self._masked_store, self._arithmetic, self._from_elements),
            *(self._tensor_slice, self._tensor_insert_slice, self._generic, self._select),
        )

    # --- text ---

    def _add(self, line: str) -> None:
        self._lines.append(line)

    def _name(self) -> str:
        self._count += 1
        return f"%v{self._count}"

    def _made(self, text: str, shape: Shape, element: str) -> str:
        """Add an operation whose result is a vector, or a scalar without a shape, and print it."""
        name = self._name()
        type = _vector(shape, element) if shape else element
        self._add(f"{name} = {text}")
        self._add(f"vector.print {name} : {type}")
        if shape:
            self._vectors.append((name, shape, element))
        return name

    def _constant(self, shape: Shape, element: str) -> str:
        name = self._name()
        self._add(f"{name} = arith.constant {self._dense(shape)} : {_vector(shape, element)}")
        self._vectors.append((name, shape, element))
        return name

    def _dense(self, shape: Shape, low: int = -9, high: int = 99) -> str:
        numbers = [str(self._chance.randint(low, high)) for _ in range(prod(shape))]
        for size in reversed(shape[1:]):
            rows = range(0, len(numbers), size)
            numbers = [f"[{', '.join(numbers[at : at + size])}]" for at in rows]
        return f"dense<[{', '.join(numbers)}]>"

    def _mask(self, shape: Shape) -> str:
        name = self._name()
        dense = self._dense(shape, 0, 1)
        self._add(f"{name} = arith.constant {dense} : {_vector(shape, 'i1')}")
        return name

    def _any(
        self, *, rank: int | None = None, least: int = 1, element: str | None = None
    ) -> tuple[str, Shape, str]:
        found = [
            each
            for each in self._vectors
            if len(each[1]) >= least
            and (rank is None or len(each[1]) == rank)
            and element in (None, each[2])
        ]
        if found:
            return self._chance.choice(found)
        shape = tuple(self._chance.randint(1, 4) for _ in range(rank or least))
        name = self._constant(shape, element or "i32")
        return name, shape, element or "i32"

    def _index(self, below: int) -> int:
        return self._chance.randrange(below)

    # --- elements and parts ---

    def _extract(self) -> None:
        name, shape, element = self._any()
        depth = self._chance.randint(1, len(shape))
        position = ", ".join(str(self._index(size)) for size in shape[:depth])
        rest = shape[depth:]
        result = _vector(rest, element) if rest else element
        text = f"vector.extract {name}[{position}] : {result} from {_vector(shape, element)}"
        self._made(text, rest, element)

    def _dynamic_extract(self) -> None:
        name, shape, element = self._any()
        position = ", ".join(self._mixed(shape))
        text = f"vector.extract {name}[{position}] : {element} from {_vector(shape, element)}"
        self._made(text, (), element)

    def _mixed(self, shape: Shape) -> list[str]:
        places = [(self._index(size), self._chance.random() < 0.6) for size in shape]
        return [f"%c{at}" if dynamic and at <= _COLUMNS else str(at) for at, dynamic in places]

    def _insert(self) -> None:
        name, shape, element = self._any()
        depth = self._chance.randint(1, len(shape))
        rest = shape[depth:]
        position = ", ".join(str(self._index(size)) for size in shape[:depth])
        if rest:
            value, type = self._constant(rest, element), _vector(rest, element)
        else:
            value, type = self._scalar(element), element
        into = _vector(shape, element)
        self._made(
            f"vector.insert {value}, {name}[{position}] : {type} into {into}", shape, element
        )

    def _dynamic_insert(self) -> None:
        name, shape, element = self._any()
        value = self._scalar(element)
        position = ", ".join(self._mixed(shape))
        into = _vector(shape, element)
        text = f"vector.insert {value}, {name}[{position}] : {element} into {into}"
        self._made(text, shape, element)

    def _scalar(self, element: str) -> str:
        name = self._name()
        self._add(f"{name} = arith.constant {self._chance.randint(-50, 50)} : {element}")
        return name

    def _from_elements(self) -> None:
        shape = (self._chance.randint(1, 3), self._chance.randint(1, 3))
        values = ", ".join(self._scalar("i32") for _ in range(prod(shape)))
        self._made(f"vector.from_elements {values} : {_vector(shape, 'i32')}", shape, "i32")

    def _extract_slice(self) -> None:
        name, shape, element = self._any()
        depth = self._chance.randint(1, len(shape))
        sizes = [self._chance.randint(1, size) for size in shape[:depth]]
        offsets = [
            self._chance.randint(0, size - taken) for size, taken in zip(shape, sizes, strict=False)
        ]
        rest = (*sizes, *shape[depth:])
        self._made(
            f"vector.extract_strided_slice {name} {{offsets = {offsets}, sizes = {sizes}, "
            f"strides = {[1] * depth}}} : {_vector(shape, element)} to {_vector(rest, element)}",
            rest,
            element,
        )

    def _insert_slice(self) -> None:
        name, shape, element = self._any()
        rank = self._chance.randint(1, len(shape))
        part = tuple(self._chance.randint(1, size) for size in shape[len(shape) - rank :])
        value = self._constant(part, element)
        sizes = [*[1] * (len(shape) - rank), *part]
        offsets = [
            self._chance.randint(0, size - taken) for size, taken in zip(shape, sizes, strict=True)
        ]
        self._made(
            f"vector.insert_strided_slice {value}, {name} {{offsets = {offsets}, "
            f"strides = {[1] * rank}}} : {_vector(part, element)} into {_vector(shape, element)}",
            shape,
            element,
        )

    # --- other orders ---

    def _broadcast(self) -> None:
        name, shape, element = self._any()
        if prod(shape) > 24 or len(shape) > 2:
            return
        stretched = [size if size > 1 else self._chance.randint(1, 3) for size in shape]
        result = (*[2] * self._chance.randint(0, 1), *stretched)
        source = _vector(shape, element)
        self._made(
            f"vector.broadcast {name} : {source} to {_vector(result, element)}", result, element
        )

    def _shape_cast(self) -> None:
        name, shape, element = self._any()
        count = prod(shape)
        rows = self._chance.choice([each for each in range(1, count + 1) if count % each == 0])
        result = self._chance.choice([(count,), (rows, count // rows), (1, rows, count // rows)])
        text = f"vector.shape_cast {name} : {_vector(shape, element)} to {_vector(result, element)}"
        self._made(text, result, element)

    def _transpose(self) -> None:
        name, shape, element = self._any(least=2)
        order = list(range(len(shape)))
        self._chance.shuffle(order)
        result = tuple(shape[at] for at in order)
        types = f"{_vector(shape, element)} to {_vector(result, element)}"
        self._made(f"vector.transpose {name}, {order} : {types}", result, element)

    def _shuffle(self) -> None:
        name, shape, element = self._any(rank=1)
        other = self._constant((self._chance.randint(1, 4),), element)
        size = self._vectors[-1][1][0]
        mask = [self._index(shape[0] + size) for _ in range(self._chance.randint(1, 6))]
        types = f"{_vector(shape, element)}, {_vector((size,), element)}"
        self._made(f"vector.shuffle {name}, {other} {mask} : {types}", (len(mask),), element)

    def _bitcast(self) -> None:
        name, shape, element = self._any()
        bits = shape[-1] * _WIDTHS[element]
        fitting = [each for each, width in _WIDTHS.items() if bits % width == 0]
        new = self._chance.choice(fitting)
        result = (*shape[:-1], bits // _WIDTHS[new])
        types = f"{_vector(shape, element)} to {_vector(result, new)}"
        dialect = self._chance.choice(("vector", "llvm")) if len(shape) == 1 else "vector"
        self._made(f"{dialect}.bitcast {name} : {types}", result, new)

    def _interleave(self) -> None:
        name, shape, element = self._any()
        other = self._constant(shape, element)
        result = (*shape[:-1], 2 * shape[-1])
        types = f"{_vector(shape, element)} -> {_vector(result, element)}"
        self._made(f"vector.interleave {name}, {other} : {types}", result, element)

    def _deinterleave(self) -> None:
        even = [each for each in self._vectors if each[1][-1] % 2 == 0]
        name, shape, element = self._chance.choice(even)
        result = (*shape[:-1], shape[-1] // 2)
        first, second = self._name(), self._name()
        source, half = _vector(shape, element), _vector(result, element)
        self._add(f"{first}, {second} = vector.deinterleave {name} : {source} -> {half}")
        for each in (first, second):
            self._add(f"vector.print {each} : {half}")
            self._vectors.append((each, result, element))

    def _arithmetic(self) -> None:
        name, shape, element = self._any()
        other = self._constant(shape, element)
        operation = self._chance.choice(("addi", "subi", "muli", "andi", "ori", "xori", "minsi"))
        self._made(f"arith.{operation} {name}, {other} : {_vector(shape, element)}", shape, element)

    def _select(self) -> None:
        name, shape, element = self._any()
        other, mask = self._constant(shape, element), self._mask(shape)
        types = f"{_vector(shape, 'i1')}, {_vector(shape, element)}"
        self._made(f"arith.select {mask}, {name}, {other} : {types}", shape, element)

    # --- combinations ---

    def _reduce(self) -> None:
        name, shape, element = self._any(rank=1)
        kind = self._chance.choice(_INTEGER_KINDS)
        is_masked = self._chance.random() < 0.5
        # Without an accumulator, what a mask that is off leaves is open.
        has_start = is_masked or self._chance.random() < 0.5
        start = f", {self._scalar(element)}" if has_start else ""
        text = (
            f"vector.reduction <{kind}>, {name}{start} : {_vector(shape, element)} into {element}"
        )
        if is_masked:
            mask = self._mask(shape)
            text = f"vector.mask {mask} {{ {text} }} : {_vector(shape, 'i1')} -> {element}"
        self._made(text, (), element)

    def _multi_reduce(self) -> None:
        name, shape, element = self._any(least=2)
        kind = self._chance.choice(_INTEGER_KINDS)
        reduced = sorted(
            self._chance.sample(range(len(shape)), self._chance.randint(1, len(shape)))
        )
        rest = tuple(size for at, size in enumerate(shape) if at not in reduced)
        start = self._constant(rest, element) if rest else self._scalar(element)
        result = _vector(rest, element) if rest else element
        text = (
            f"vector.multi_reduction <{kind}>, {name}, {start} {reduced} : "
            f"{_vector(shape, element)} to {result}"
        )
        self._made(text, rest, element)

    def _contract(self) -> None:
        rows, columns, depth = (self._chance.randint(1, 3) for _ in range(3))
        left = self._constant((rows, depth), "i32")
        right = self._constant((depth, columns), "i32")
        start = self._constant((rows, columns), "i32")
        maps = "affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>"
        maps += ", affine_map<(i, j, k) -> (i, j)>"
        kind = self._chance.choice(("add", "maxsi", "minui", "xor"))
        types = f"{_vector((rows, depth), 'i32')}, {_vector((depth, columns), 'i32')}"
        self._made(
            f"vector.contract {{indexing_maps = [{maps}], "
            'iterator_types = ["parallel", "parallel", "reduction"], '
            f"kind = #vector.kind<{kind}>}} {left}, {right}, {start} : {types} into "
            f"{_vector((rows, columns), 'i32')}",
            (rows, columns),
            "i32",
        )

    def _outer_product(self) -> None:
        rows, columns = self._chance.randint(1, 3), self._chance.randint(1, 3)
        left, right = self._constant((rows,), "i32"), self._constant((columns,), "i32")
        start = self._constant((rows, columns), "i32")
        kind = self._chance.choice(("add", "mul", "maxsi"))
        self._made(
            f"vector.outerproduct {left}, {right}, {start} {{kind = #vector.kind<{kind}>}} : "
            f"{_vector((rows,), 'i32')}, {_vector((columns,), 'i32')}",
            (rows, columns),
            "i32",
        )

    # --- memory ---

    def _transfer_read(self) -> None:
        """Read with a map, bounds and a mask, from memory or a tensor."""
        results = self._chance.choice(("d0, d1", "d1, d0", "d1", "d0", "0, d1", "d0, 0", "d1, 0"))
        names = results.split(", ")
        sizes = {"d0": _ROWS, "d1": _COLUMNS, "0": 3}
        shape = tuple(self._chance.randint(1, sizes[name]) for name in names)
        extents: dict[str, int] = dict(zip(names, shape, strict=True))
        starts = {name: self._index(sizes[name]) for name in ("d0", "d1")}
        inside = [name == "0" or starts[name] + extents[name] <= sizes[name] for name in names]
        flags = [
            is_in and (name == "0" or self._chance.random() < 0.5)
            for is_in, name in zip(inside, names, strict=True)
        ]
        from_memory = self._chance.random() < 0.6
        base = "%memory" if from_memory else self._chance.choice(self._tensors)
        kind = "memref" if from_memory else "tensor"
        mask = self._transfer_mask(names, extents)
        bounds = ", ".join(str(flag).lower() for flag in flags)
        self._made(
            f"vector.transfer_read {base}[%c{starts['d0']}, %c{starts['d1']}], %padding{mask} "
            f"{{permutation_map = affine_map<(d0, d1) -> ({results})>, in_bounds = [{bounds}]}} : "
            f"{kind}<{_ROWS}x{_COLUMNS}xi32>, {_vector(shape, 'i32')}",
            shape,
            "i32",
        )

    def _transfer_mask(self, names: Sequence[str], extents: dict[str, int]) -> str:
        used = sorted(name for name in names if name != "0")
        if self._chance.random() < 0.5 or not used:
            return ""
        return f", {self._mask(tuple(extents[name] for name in used))}"

    def _transfer_write(self) -> None:
        to_memory = self._chance.random() < 0.5
        # one-shot-bufferize forgets the old elements if a vector of lower rank is written.
        results = self._chance.choice(("d0, d1", "d1, d0", *(("d1", "d0") if to_memory else ())))
        names = results.split(", ")
        sizes = {"d0": _ROWS, "d1": _COLUMNS}
        shape = tuple(self._chance.randint(1, sizes[name]) for name in names)
        extents: dict[str, int] = dict(zip(names, shape, strict=True))
        starts = {name: self._index(sizes[name]) for name in ("d0", "d1")}
        value = self._constant(shape, "i32")
        mask = self._transfer_mask(names, extents)
        bounds = ", ".join(
            str(starts[name] + extents[name] <= sizes[name]).lower() for name in names
        )
        target = f"[%c{starts['d0']}, %c{starts['d1']}]{mask}"
        tail = (
            f"{{permutation_map = affine_map<(d0, d1) -> ({results})>, in_bounds = [{bounds}]}} : "
            f"{_vector(shape, 'i32')}, "
        )
        type = f"<{_ROWS}x{_COLUMNS}xi32>"
        if to_memory:
            self._add(f"vector.transfer_write {value}, %memory{target} {tail}memref{type}")
            return
        name = self._name()
        base = self._chance.choice(self._tensors)
        self._add(f"{name} = vector.transfer_write {value}, {base}{target} {tail}tensor{type}")
        self._tensors.append(name)
        self._all_tensor(name)

    def _masked_load(self) -> None:
        size = self._chance.randint(1, _COLUMNS)
        start = self._chance.randint(0, _COLUMNS - size)
        mask, other = self._mask((size,)), self._constant((size,), "i32")
        vector = _vector((size,), "i32")
        self._made(
            f"vector.maskedload %memory[%c{self._index(_ROWS)}, %c{start}], {mask}, {other} : "
            f"memref<{_ROWS}x{_COLUMNS}xi32>, {_vector((size,), 'i1')}, {vector} into {vector}",
            (size,),
            "i32",
        )

    def _masked_store(self) -> None:
        size = self._chance.randint(1, _COLUMNS)
        start = self._chance.randint(0, _COLUMNS - size)
        mask, value = self._mask((size,)), self._constant((size,), "i32")
        operation = self._chance.choice(("maskedstore", "compressstore"))
        self._add(
            f"vector.{operation} %memory[%c{self._index(_ROWS)}, %c{start}], {mask}, {value} : "
            f"memref<{_ROWS}x{_COLUMNS}xi32>, {_vector((size,), 'i1')}, {_vector((size,), 'i32')}"
        )

    def _gather(self) -> None:
        size = self._chance.randint(1, 4)
        start = self._index(_COLUMNS)
        indices = self._name()
        dense = self._dense((size,), -start, _COLUMNS - 1 - start)
        self._add(f"{indices} = arith.constant {dense} : {_vector((size,), 'i32')}")
        mask, other = self._mask((size,)), self._constant((size,), "i32")
        vector = _vector((size,), "i32")
        self._made(
            f"vector.gather %memory[%c{self._index(_ROWS)}, %c{start}] [{indices}], {mask}, {other}"
            f" : memref<{_ROWS}x{_COLUMNS}xi32>, {vector}, {_vector((size,), 'i1')}, {vector} "
            f"into {vector}",
            (size,),
            "i32",
        )

    def _all_memory(self) -> None:
        name, vector = self._name(), _vector((_ROWS, _COLUMNS), "i32")
        self._add(
            f"{name} = vector.transfer_read %memory[%c0, %c0], %padding "
            f"{{in_bounds = [true, true]}} : memref<{_ROWS}x{_COLUMNS}xi32>, {vector}"
        )
        self._add(f"vector.print {name} : {vector}")

    # --- tensors ---

    def _all_tensor(self, tensor: str) -> None:
        name, vector = self._name(), _vector((_ROWS, _COLUMNS), "i32")
        self._add(
            f"{name} = vector.transfer_read {tensor}[%c0, %c0], %padding "
            f"{{in_bounds = [true, true]}} : tensor<{_ROWS}x{_COLUMNS}xi32>, {vector}"
        )
        self._add(f"vector.print {name} : {vector}")

    def _window(self) -> tuple[list[int], list[int], list[int]]:
        """Return offsets, sizes and strides within a tensor."""
        offsets: list[int] = []
        sizes: list[int] = []
        strides: list[int] = []
        for size in (_ROWS, _COLUMNS):
            stride, offset = self._chance.randint(1, 2), self._index(size)
            offsets.append(offset)
            strides.append(stride)
            sizes.append(self._chance.randint(1, (size - 1 - offset) // stride + 1))
        return offsets, sizes, strides

    def _tensor_slice(self) -> None:
        offsets, sizes, strides = self._window()
        name, row = self._name(), self._chance.random() < 0.3
        if row:  # MLIR fails to lower a slice without its first dimension that has other strides
            sizes[0], strides = 1, [1, 1]
        shape = tuple(sizes[1:] if row else sizes)
        result = f"tensor<{'x'.join(map(str, shape))}xi32>"
        self._add(
            f"{name} = tensor.extract_slice {self._chance.choice(self._tensors)}"
            f"[%c{offsets[0]}, {offsets[1]}] {sizes} {strides} : "
            f"tensor<{_ROWS}x{_COLUMNS}xi32> to {result}"
        )
        zeros = ", ".join(["%c0"] * len(shape))
        flags = ", ".join(["true"] * len(shape))
        text = f"vector.transfer_read {name}[{zeros}], %padding {{in_bounds = [{flags}]}}"
        self._made(f"{text} : {result}, {_vector(shape, 'i32')}", shape, "i32")

    def _tensor_insert_slice(self) -> None:
        offsets, sizes, strides = self._window()
        value, name = self._name(), self._name()
        part = f"tensor<{'x'.join(map(str, sizes))}xi32>"
        self._add(f"{value} = arith.constant {self._dense(tuple(sizes))} : {part}")
        self._add(
            f"{name} = tensor.insert_slice {value} into {self._chance.choice(self._tensors)}"
            f"[{offsets[0]}, %c{offsets[1]}] {sizes} {strides} : "
            f"{part} into tensor<{_ROWS}x{_COLUMNS}xi32>"
        )
        self._tensors.append(name)
        self._all_tensor(name)

    def _generic(self) -> None:
        """Add the rows of a tensor, or the columns, to each element of another."""
        first, second = (self._chance.choice(self._tensors) for _ in range(2))
        type, name = f"tensor<{_ROWS}x{_COLUMNS}xi32>", self._name()
        maps = ", ".join(["affine_map<(i, j) -> (i, j)>"] * 2)
        dimension = self._chance.randint(0, 1)
        self._add(
            f"{name} = linalg.generic {{indexing_maps = [{maps}], "
            f'iterator_types = ["parallel", "parallel"]}} ins({first} : {type}) '
            f"outs({second} : {type}) {{"
        )
        self._add("^bb0(%in: i32, %out: i32):")
        self._add(f"  %at = linalg.index {dimension} : index")
        self._add("  %number = arith.index_cast %at : index to i32")
        self._add("  %scaled = arith.muli %in, %number : i32")
        self._add("  %sum = arith.addi %scaled, %out : i32")
        self._add("  linalg.yield %sum : i32")
        self._add(f"}} -> {type}")
        self._tensors.append(name)
        self._all_tensor(name)


def _vector(shape: Shape, element: str) -> str:
    return f"vector<{''.join(f'{size}x' for size in shape)}{element}>"
