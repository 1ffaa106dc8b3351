"""Schedules in the transform dialect: tile, peel, vectorize, bufferize, lower vectors."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from actiondbg.kernels.model import Configuration, Loop, Operation, Parameter
from actiondbg.kernels.providers.mlir.toolchain import Toolchain

ROOT = "kernel_root"  # the attribute of the root operation, until a schedule replaced it

# Convolutions that a tile of one row and one row of the window makes one-dimensional.
_DECOMPOSED = frozenset(
    f"linalg.{name}"
    for name in (
        "conv_2d_nhwc_hwcf",
        "conv_2d_nchw_fchw",
        "depthwise_conv_2d_nhwc_hwc",
        "pooling_nhwc_sum",
        "pooling_nhwc_max",
        "pooling_nhwc_min",
        "pooling_nchw_sum",
        "pooling_nchw_max",
    )
)
_LOOPS = "kernel_loops"  # the attribute with the number of loops; 0 for the root
_OF_ROWS = 100  # is added to it for operations beside the root whose last loop is a reduction
_DONE = -1  # its value for pieces of the root that need no more tiling
_PARAMETER = "!transform.param<i64>"
_OP = "!transform.any_op"
_FOR = '!transform.op<"scf.for">'


@dataclass(frozen=True)
class Schedule:
    """What a schedule does to the loops of the root operation.

    Attributes:
        tile: the size of a cache tile for each loop; 0 for the whole loop.
        vector: the size of a register tile for each loop: what becomes one vector operation.
        split_k_slices: the parts into which the first reduction is split, each with a result of
            its own; 1 for none.
        partial: sums of the reduction loops stay vectors until the end, as is best where the
            innermost loop is a reduction of one operand.
    """

    tile: tuple[int, ...]
    vector: tuple[int, ...]
    split_k_slices: int = 1
    partial: bool = False

    @property
    def name(self) -> str:
        """The name of the configuration, such as ``mlir_tile_64x64x0_vector_8x32x1``."""
        slices = f"_split_k_{self.split_k_slices}" if self.split_k_slices > 1 else ""
        partial = "_partial" if self.partial else ""
        return f"mlir_tile_{_product(self.tile)}_vector_{_product(self.vector)}{slices}{partial}"

    @property
    def configuration(self) -> Configuration:
        parameters: dict[str, Parameter] = {"tile": list(self.tile), "vector": list(self.vector)}
        if self.split_k_slices > 1:
            parameters["split_k_slices"] = self.split_k_slices
        if self.partial:
            parameters["partial"] = True
        return Configuration("mlir", self.name, parameters)


def _product(sizes: Sequence[int]) -> str:
    return "x".join(map(str, sizes))


class ScheduleText:
    """Writes the named sequence of a schedule."""

    def __init__(self, operation: Operation, schedule: Schedule, toolchain: Toolchain) -> None:
        vector_bits = toolchain.vector_bits
        self._toolchain = toolchain
        self._operation = operation
        self._schedule = schedule
        self._body = operation.body("%out", ROOT)
        self._lines: list[str] = []
        self._values = 0
        self._module = "%module"
        self._decomposed = operation.root in _DECOMPOSED
        self._reduces_rows = reduces_rows(operation)
        self._lanes = vector_bits // operation.accumulator.bits
        self._function_lanes = function_lanes(operation, vector_bits)
        self._unit_windows = not self._decomposed and has_windows(self._body)

    def write(self) -> str:
        ranks = self._ranks()
        if self._schedule.split_k_slices > 1:
            # Into slices: a new parallel loop, the first one.
            split = self._value()
            self._add(
                f"{split}:4 = transform.structured.split_reduction {self._root()} "
                f"{{split_factor = {self._schedule.split_k_slices}, insert_split_dimension = 0}} : "
                f"({_OP}) -> ({', '.join([_OP] * 4)})",
                f'transform.annotate {split}#2 "{ROOT}" : {_OP}',
            )
        elif self._unit_windows:
            general = self._value()
            self._add(
                f"{general} = transform.structured.generalize {self._root()} : ({_OP}) -> {_OP}",
                f'transform.annotate {general} "{ROOT}" : {_OP}',
            )
        self._mark(ranks)
        self._tile_for_caches()
        self._tile_others(ranks)
        self._tile_for_registers()
        widths = self._tile_remainders()
        self._vectorize()
        self._lower_vectors()
        body = "".join(f"  {line}\n" for line in self._lines)
        matchers = "".join(
            [_matcher(f"{rank}_loops", "rank %structured", rank, rank) for rank in ranks]
            + [
                _matcher(f"{rank}_loops_of_rows", "rank %structured", rank, rank + _OF_ROWS, rank)
                for rank in ranks
                if self._reduces_rows
            ]
            + [
                _matcher(f"{width}_columns", f"dim %structured[{self._columns()}]", width, _DONE)
                for width in widths
            ]
        )
        return (
            f"{matchers}transform.named_sequence @__transform_main(%module: {_OP} "
            f"{{transform.consumed}}) {{\n{body}  transform.yield\n}}\n"
        )

    def _loops(self) -> list[tuple[Loop, int, int]]:
        """Return each loop of the root with the sizes of its tiles, that of slices included."""
        schedule, slices = self._schedule, self._schedule.split_k_slices
        loops = list(zip(self._operation.loops, schedule.tile, schedule.vector, strict=True))
        if slices == 1:
            return loops
        first = next(i for i, (loop, *_) in enumerate(loops) if loop.type == "reduction")
        reduction, tile, vector = loops[first]
        part = Loop(reduction.size // slices, "reduction")
        loops[first] = part, tile, min(vector, part.size)
        return [(Loop(slices, "parallel"), 1, 1), *loops]

    def _tile_for_caches(self) -> None:
        """Tile the last operation and fuse its producers, then tile the reductions of the root."""
        loops = self._loops()
        tiles = [0 if tile >= loop.size else tile for loop, tile, _ in loops]
        parallel = [
            size if loop.type == "parallel" else 0
            for size, (loop, *_) in zip(tiles, loops, strict=True)
        ]
        if any(parallel):
            if self._schedule.split_k_slices > 1:
                self._tile(f"transform.structured.tile_using_for {self._root()}", parallel)
            else:
                self._fuse(parallel)
        reductions = [size - same for size, same in zip(tiles, parallel, strict=True)]
        if any(reductions):
            self._tile(f"transform.structured.tile_using_for {self._root()}", reductions)

    def _fuse(self, parallel: list[int]) -> None:
        """Tile the last operation by the root's parallel sizes, and fuse what produces operands."""
        if not root_is_last(self._body):
            loops = zip(parallel, self._operation.loops, strict=True)
            parallel = [size for size, loop in loops if loop.type == "parallel"]
            parallel = parallel[: len(self._operation.result.shape)]
        if any(parallel):
            store = self._match('ops{["bufferization.materialize_in_destination"]}')
            last = self._value()
            self._add(f"{last} = transform.get_producer_of_operand {store}[0] : ({_OP}) -> {_OP}")
            self._tile(f"transform.structured.fuse {last}", parallel, fuses=True)

    def _tile_for_registers(self) -> None:
        loops = self._loops()
        vector = [size for *_, size in loops]
        if not self._schedule.partial:
            self._tile(f"transform.structured.tile_using_for {self._root()}", vector)
            return
        last = max(at for at, (loop, *_) in enumerate(loops) if loop.type == "reduction")
        outer = [0 if at == last else size for at, size in enumerate(vector)]
        if any(outer):
            self._tile(f"transform.structured.tile_using_for {self._root()}", outer)
        sizes = [
            min(size, loops[at][0].size) if at == last else 0 for at, size in enumerate(vector)
        ]
        tiled = self._value()
        self._add(
            f"{tiled}:4 = transform.structured.tile_reduction_using_for {self._root()} "
            f"by tile_sizes = {sizes} : ({_OP}) -> ({', '.join([_OP] * 3)}, {_FOR})"
        )
        self._peel(f"{tiled}#3")
        self._clean()

    def _ranks(self) -> list[int]:
        """Return the numbers of loops that operations may have."""
        ranks = {
            text.count(",") + 1
            for text in re.findall(r"iterator_types\s*=\s*\[(.*?)\]", self._body)
        }
        shapes = re.findall(r"tensor<((?:\d+x)*)", self._body)
        ranks |= {shape.count("x") for shape in shapes}
        ranks.add(len(self._operation.result.shape) + (self._schedule.split_k_slices > 1))
        return sorted(ranks - {0})

    def _mark(self, ranks: list[int]) -> None:
        """Mark each operation with its number of loops, and the root with 0.

        Tiling keeps attributes: they identify the pieces.
        """
        rows = [f"{rank}_loops_of_rows" for rank in ranks] if self._reduces_rows else []
        self._mark_matching([*rows, *(f"{rank}_loops" for rank in ranks)])
        self._add(
            f"%none = transform.param.constant 0 : i64 -> {_PARAMETER}",
            f'transform.annotate {self._root()} "{_LOOPS}" = %none : {_OP}, {_PARAMETER}',
        )

    def _mark_matching(self, names: list[str]) -> None:
        pairs = ", ".join(f"@has_{name} -> @mark_{name}" for name in names)
        module = self._value()
        self._add(
            f"{module} = transform.foreach_match in {self._module} {pairs} : ({_OP}) -> {_OP}"
        )
        self._module = module

    def _columns(self) -> int | None:
        """Return the loop whose iterations are lanes: the last parallel one."""
        loops = [index for index, (loop, *_) in enumerate(self._loops()) if loop.type == "parallel"]
        return loops[-1] if loops and not self._schedule.partial else None

    def _tile_remainders(self) -> list[int]:
        """Tile what the vector size leaves of the lanes to powers of two: 31 to 16, 8, 4, 2 and 1.

        Code for vectors of other sizes is several times slower.

        Returns:
            The sizes of vectors that are marked, since they are done.
        """
        columns = self._columns()
        if columns is None:
            return []
        loop, tile, width = self._loops()[columns]
        tile = min(tile or loop.size, loop.size)
        remainders = {tile % width, loop.size % tile % width}
        if width.bit_count() > 1 or all(each.bit_count() <= 1 for each in remainders):
            return []
        widths = [width]
        for narrow in (1 << bit for bit in reversed(range(width.bit_length() - 1))):
            if not any(each & narrow for each in remainders):
                continue
            self._mark_matching([f"{widths[-1]}_columns"])
            rest = self._match(f"attributes {{{ROOT}, {_LOOPS} = 0 : i64}}")
            sizes = [narrow if at == columns else 0 for at in range(len(self._loops()))]
            self._tile(f"transform.structured.tile_using_for {rest}", sizes)
            widths.append(narrow)
        return widths[:-1]

    def _tile_others(self, ranks: list[int]) -> None:
        for rank in ranks:
            others = self._match(f"attributes {{{_LOOPS} = {rank} : i64}}")
            sizes = [*[1] * (rank - 1), self._width()]
            self._tile(f"transform.structured.tile_using_for {others}", sizes)
            if self._reduces_rows:
                rows = self._match(f"attributes {{{_LOOPS} = {rank + _OF_ROWS} : i64}}")
                sizes = [*[1] * (rank - 1), 4 * self._lanes]
                self._tile(f"transform.structured.tile_using_for {rows}", sizes)

    def _width(self) -> int:
        """Return the vector size of the operations beside the root.

        It is the register tile of the innermost parallel loop, or of the innermost one; but
        functions such as exp are there for some sizes of vectors only.
        """
        sizes = [size for loop, _, size in self._loops() if loop.type == "parallel"]
        width = max(sizes[-1] if sizes else 1, self._schedule.vector[-1])
        return min(width, self._function_lanes) if "math." in self._body else width

    def _tile(self, transform: str, sizes: list[int], *, fuses: bool = False) -> None:
        """Tile, and peel the loops that the size does not divide, such that shapes are static."""
        count = sum(size != 0 for size in sizes)
        tiled = self._value()
        types = ", ".join([_OP, *[_FOR] * count])
        options = f"tile_sizes {sizes}"
        if fuses:
            options = f"{options} {{apply_cleanup}}"
            if self._toolchain.major < 22:
                options = f"{sizes} {{apply_cleanup = true}}"
        self._add(f"{tiled}:{count + 1} = {transform} {options} : ({_OP}) -> ({types})")
        for index in range(count, 0, -1):
            self._peel(f"{tiled}#{index}")
        self._clean()

    def _peel(self, loops: str) -> None:
        """Peel the last iteration of loops; those without a partial one stay as they are."""
        self._add(
            f"transform.sequence {loops} : {_FOR} failures(suppress) {{",
            f"^bb0(%loop: {_FOR}):",
            f"  transform.loop.peel %loop : ({_FOR}) -> ({_FOR}, {_FOR})",
            "}",
        )

    def _optionally(self, transform: str, operations: str, types: str = f" : {_OP}") -> None:
        """Transform the operations that can be, and leave the others."""
        self._add(
            f"transform.sequence {operations} : {_OP} failures(suppress) {{",
            f"^bb0(%operation: {_OP}):",
            f"  {transform} %operation{types}",
            "}",
        )

    def _clean(self) -> None:
        self._apply(
            self._functions(),
            "canonicalization",
            "linalg.tiling_canonicalization",
            "scf.for_loop_canonicalization",
            "tensor.fold_tensor_empty",
            "tensor.merge_consecutive_insert_extract_slice",
        )

    def _vectorize(self) -> None:
        if self._decomposed:
            self._optionally("transform.structured.decompose", self._root(), f" : ({_OP}) -> {_OP}")
            self._clean()
        if self._unit_windows:
            self._apply(self._functions(), "linalg.fold_unit_extent_dims_via_slices")
        # Not the whole function: that makes vectors of tensor.insert_slice, too, wrong ones where
        # it drops a dimension that is not among the first.
        self._optionally("transform.structured.vectorize", self._match("interface{LinalgOp}"))
        functions = self._functions()
        self._apply(
            functions,
            "vector.sink_ops",
            "vector.reduction_to_contract",
            "vector.transfer_permutation_patterns",
            "tensor.fold_tensor_subset_ops_into_vector_transfers",
            "canonicalization",
        )
        self._add(f"transform.apply_cse to {functions} : {_OP}")
        loops = self._match('ops{["scf.for"]}')
        self._add(
            f"transform.apply_licm to {loops} : {_OP}",
            f"transform.loop.hoist_loop_invariant_subsets {loops} : {_OP}",
        )
        self._apply(functions, "canonicalization")

    def _lower_vectors(self) -> None:
        """Bufferize, and lower the vectors, which are then of memory."""
        self._add(
            f"transform.bufferization.eliminate_empty_tensors {self._module} : {_OP}",
            "%bufferized = transform.bufferization.one_shot_bufferize layout{IdentityLayoutMap} "
            f"{self._module} {{bufferize_function_boundaries = true}} : ({_OP}) -> {_OP}",
        )
        functions = self._match('ops{["func.func"]}', "%bufferized")
        self._add(f"transform.apply_cse to {functions} : {_OP}")
        self._apply(functions, "canonicalization")
        self._apply(
            functions,
            'vector.lower_contraction lowering_strategy = "outerproduct"',
            "vector.transfer_permutation_patterns",
        )
        self._apply(
            functions,
            'vector.lower_multi_reduction lowering_strategy = "innerreduction"',
            "vector.lower_outerproduct",
            "vector.lower_broadcast",
            'vector.lower_transpose lowering_strategy = "shuffle_1d"',
            "vector.lower_shape_cast",
        )
        self._apply(
            functions,
            "vector.transfer_to_scf max_transfer_rank = 1 full_unroll = true",
            "vector.lower_transfer max_transfer_rank = 1",
            "memref.fold_memref_alias_ops",
            "canonicalization",
        )

    def _root(self) -> str:
        return self._match(f"attributes {{{ROOT}}}")

    def _functions(self) -> str:
        return self._match('ops{["func.func"]}')

    def _match(self, what: str, where: str = "") -> str:
        value, where = self._value(), where or self._module
        self._add(f"{value} = transform.structured.match {what} in {where} : ({_OP}) -> {_OP}")
        return value

    def _apply(self, target: str, *patterns: str) -> None:
        self._add(
            f"transform.apply_patterns to {target} {{",
            *(f"  transform.apply_patterns.{pattern}" for pattern in patterns),
            f"}} : {_OP}",
        )

    def _value(self) -> str:
        self._values += 1
        return f"%{self._values}"

    def _add(self, *lines: str) -> None:
        self._lines += lines


def function_lanes(operation: Operation, vector_bits: int) -> int:
    """Return the lanes for functions such as exp: the widest of libmvec that llc calls."""
    return min(vector_bits, 256) // operation.accumulator.bits


def root_is_last(body: str) -> bool:
    """Return whether the root, which has the attribute ROOT, makes the result."""
    lines = body.strip().splitlines()
    returned = lines[-1].split()[1]
    return any(line.strip().startswith(f"{returned} =") and ROOT in line for line in lines)


def reduces_rows(operation: Operation) -> bool:
    """Return whether operations beside the root are reductions, such as those of a softmax."""
    lines = operation.body("%out", ROOT).splitlines()
    return any('"reduction"' in line and ROOT not in line for line in lines)


def has_windows(body: str) -> bool:
    """Return whether operations access elements at sums of loops, as convolutions do."""
    return bool(
        re.search(r"\blinalg\.(conv|depthwise|pooling)_", body)
        or re.search(r"affine_map<[^>]*-> \([^)>]*\+", body)
    )


def has_bits(body: str) -> bool:
    """Return whether there are tensors of i1.

    MLIR stores the elements of a vector of i1 as bits, and single ones as bytes.
    """
    return "xi1>" in body


def _matcher(name: str, size: str, expected: int, mark: int, row: int = 0) -> str:
    """Return sequences that mark the structured operations of which a size is the expected one.

    Args:
        row: the loop that has to be a reduction, too, from 1; 0 for none.
    """
    reduction = f"transform.match.structured.dim %structured[{row - 1}] {{reduction}} : {_OP}"
    lines = [
        f"transform.named_sequence private @has_{name}"
        f"(%operation: {_OP} {{transform.readonly}}) -> {_OP} {{",
        "  %matched = transform.match.structured failures(propagate) %operation : "
        f"({_OP}) -> {_OP} {{",
        f"  ^bb0(%structured: {_OP}):",
        f"    %size = transform.match.structured.{size} : ({_OP}) -> {_PARAMETER}",
        f"    %expected = transform.param.constant {expected} : i64 -> {_PARAMETER}",
        f"    transform.match.param.cmpi eq %size, %expected : {_PARAMETER}",
        *([f"    {reduction}"] if row else []),
        f"    transform.match.structured.yield %structured : {_OP}",
        "  }",
        f"  transform.yield %matched : {_OP}",
        "}",
        f"transform.named_sequence private @mark_{name}"
        f"(%operation: {_OP} {{transform.readonly}}) {{",
        f"  %mark = transform.param.constant {mark} : i64 -> {_PARAMETER}",
        f'  transform.annotate %operation "{_LOOPS}" = %mark : {_OP}, {_PARAMETER}',
        "  transform.yield",
        "}",
    ]
    return "".join(f"{line}\n" for line in lines)
