"""Schedules in the transform dialect: tile, peel, vectorize, bufferize, lower vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from actiondbg.kernels.model.configuration import Configuration, Parameter
from actiondbg.kernels.model.operation import Operation

ROOT = "kernel_root"  # the attribute of the root operation, until a schedule replaced it

_OP = "!transform.any_op"
_FOR = '!transform.op<"scf.for">'


@dataclass(frozen=True)
class Schedule:
    """What a schedule does to the loops of the root operation.

    Attributes:
        tile: the size of a cache tile for each loop; 0 for the whole loop.
        vector: the size of a register tile for each loop: what becomes one vector operation.
    """

    tile: tuple[int, ...]
    vector: tuple[int, ...]

    @property
    def name(self) -> str:
        """The name of the configuration, such as ``mlir_tile_64x64x0_vector_8x32x1``."""
        return f"mlir_tile_{_product(self.tile)}_vector_{_product(self.vector)}"

    @property
    def configuration(self) -> Configuration:
        """The configuration as plain data."""
        parameters: dict[str, Parameter] = {"tile": list(self.tile), "vector": list(self.vector)}
        return Configuration("mlir", self.name, parameters)


def _product(sizes: Sequence[int]) -> str:
    return "x".join(map(str, sizes))


class ScheduleText:
    """Writes the named sequence of a schedule.

    Args:
        operation: to be scheduled.
        schedule: fits its loops.
    """

    def __init__(self, operation: Operation, schedule: Schedule) -> None:
        self._operation = operation
        self._schedule = schedule
        self._lines: list[str] = []
        self._values = 0

    def write(self) -> str:
        """Return the named sequence."""
        self._tile_for_caches()
        self._tile_for_registers()
        self._vectorize()
        self._bufferize()
        self._lower_vectors()
        body = "".join(f"  {line}\n" for line in self._lines)
        return (
            f"transform.named_sequence @__transform_main(%module: {_OP} "
            f"{{transform.consumed}}) {{\n{body}  transform.yield\n}}\n"
        )

    def _tile_for_caches(self) -> None:
        """Tile the last operation and fuse its producers, then tile the reductions of the root."""
        loops = self._operation.loops
        tile = [
            0 if size >= loop.size else size
            for size, loop in zip(self._schedule.tile, loops, strict=True)
        ]
        parallel = [size for size, loop in zip(tile, loops, strict=True) if loop.type == "parallel"]
        if any(parallel):
            store = self._match('ops{["bufferization.materialize_in_destination"]}')
            last = self._value()
            self._add(f"{last} = transform.get_producer_of_operand {store}[0] : ({_OP}) -> {_OP}")
            self._tile(f"transform.structured.fuse {last} tile_sizes {parallel} {{apply_cleanup}}")
        reductions = [
            size if loop.type == "reduction" else 0 for size, loop in zip(tile, loops, strict=True)
        ]
        if any(reductions):
            self._tile(
                f"transform.structured.tile_using_for {self._root()} tile_sizes {reductions}"
            )

    def _tile_for_registers(self) -> None:
        vector = list(self._schedule.vector)
        self._tile(f"transform.structured.tile_using_for {self._root()} tile_sizes {vector}")
        rank = len(self._operation.result.shape)
        width = self._width()
        fill = self._match('ops{["linalg.fill"]}')
        sizes = [*[1] * (rank - 1), width]
        self._tile(f"transform.structured.tile_using_for {fill} tile_sizes {sizes}")

    def _width(self) -> int:
        """Return the register tile of the innermost parallel loop."""
        loops = zip(self._schedule.vector, self._operation.loops, strict=True)
        return [size for size, loop in loops if loop.type == "parallel"][-1]

    def _tile(self, transform: str) -> None:
        """Tile, and peel the loops that the size does not divide, such that shapes are static."""
        sizes = transform.partition("tile_sizes [")[2].partition("]")[0].split(", ")
        count = sum(size != "0" for size in sizes)
        tiled = self._value()
        types = ", ".join([_OP, *[_FOR] * count])
        self._add(f"{tiled}:{count + 1} = {transform} : ({_OP}) -> ({types})")
        for index in range(count, 0, -1):
            self._add(
                f"transform.sequence {tiled}#{index} : {_FOR} failures(suppress) {{",
                f"^bb0(%loop: {_FOR}):",
                f"  transform.loop.peel %loop : ({_FOR}) -> ({_FOR}, {_FOR})",
                "}",
            )
        self._apply(
            self._functions(),
            "canonicalization",
            "linalg.tiling_canonicalization",
            "scf.for_loop_canonicalization",
            "tensor.merge_consecutive_insert_extract_slice",
        )

    def _vectorize(self) -> None:
        vectorized = self._value()
        self._add(
            f"{vectorized} = transform.structured.vectorize_children_and_apply_patterns "
            f"{self._functions()} : ({_OP}) -> {_OP}"
        )
        self._apply(
            vectorized,
            "vector.reduction_to_contract",
            "vector.transfer_permutation_patterns",
            "tensor.fold_tensor_subset_ops_into_vector_transfers",
            "canonicalization",
        )
        self._add(f"transform.apply_cse to {vectorized} : {_OP}")
        loops = self._match('ops{["scf.for"]}')
        self._add(
            f"transform.apply_licm to {loops} : {_OP}",
            f"transform.loop.hoist_loop_invariant_subsets {loops} : {_OP}",
        )
        self._apply(vectorized, "canonicalization")

    def _bufferize(self) -> None:
        self._add(
            "%bufferized = transform.bufferization.one_shot_bufferize layout{IdentityLayoutMap} "
            f"%module {{bufferize_function_boundaries = true}} : ({_OP}) -> {_OP}"
        )

    def _lower_vectors(self) -> None:
        functions = self._match('ops{["func.func"]}', "%bufferized")
        self._apply(
            functions,
            'vector.lower_contraction lowering_strategy = "outerproduct"',
            "vector.transfer_permutation_patterns",
        )
        self._apply(
            functions,
            'vector.lower_multi_reduction lowering_strategy = "innerparallel"',
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

    def _match(self, what: str, where: str = "%module") -> str:
        value = self._value()
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
