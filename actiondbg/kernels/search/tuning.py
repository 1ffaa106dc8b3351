"""Searches for the configurations of a program's operations, applied to the whole program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from math import ceil, prod, sqrt
from pathlib import Path
from statistics import median

from actiondbg.errors import UsageError
from actiondbg.kernels.execution.kernel import KernelBinary
from actiondbg.kernels.execution.kernel_process import KernelProcess
from actiondbg.kernels.kernels import Kernels
from actiondbg.kernels.model import Configuration, Dispatch, ElementType, Operation, Tensor
from actiondbg.kernels.packages import np
from actiondbg.kernels.profiling.profiler import StartKernel, calibrated_calls
from actiondbg.kernels.programs.extraction import operations_of
from actiondbg.kernels.providers.iree.configurations import PROVIDER, lowering_of
from actiondbg.kernels.providers.iree.whole_model import (
    ModelRoot,
    RootKey,
    WholeModel,
    root_key,
    tuning_spec,
)
from actiondbg.kernels.results.entry import entries_of
from actiondbg.kernels.results.words import ModelWeights, Weight, model_weights
from actiondbg.kernels.search.api import search
from actiondbg.kernels.search.search import Finalist, SearchProgress, SearchResult
from actiondbg.kernels.sweep.settings import SweepSettings
from actiondbg.kernels.sweep.sweep import Report
from actiondbg.recording.overwrite_protection import check_overwritten
from actiondbg.support.output_file import write_file

_LEAST_SHARE = 1.0  # per cent of the program, from which on an operation is worth a search
_LEAST_TRIALS = 8
_REPETITIONS = 25  # of the whole program
SPEC = "tuning_spec.mlir"
_OPERAND_SEED = 1  # of the program; the search has the seed of the settings
# Of the largest element: what reordered sums of a network's layers may differ by. A wrong tile
# differs by as much as the elements themselves.
_TOLERANCE = 1e-3
_CLEAR = 0.8  # of the repetitions: 20 of 25 are 1 in 500 by chance, either way
_SMALL_INDEX = 8  # integers may be indices of a table, whose size is not in the signature


@dataclass(frozen=True)
class TuneSettings:
    """What a tuning does.

    Attributes:
        budget: how many configurations are tried for all operations, shared by their weights.
        function: the function of the program to call; "" for the only public function.
        spec: the file that gets the tuning spec; None for one beside the generated kernels.
    """

    budget: int = 60
    seed: int = 0
    function: str = ""
    spec: Path | None = None


@dataclass(frozen=True)
class TunedOperation:
    """A root of the program with the search for it.

    Attributes:
        search: of the first operation of the program with this root.
        share: of all operations with this root, in per cent of the sum of all kernels.
        count: how often the program has operations with this root.
        applied: the finalist that the tuning spec has, or None: none is clearly faster.
    """

    search: SearchResult
    share: float
    count: int
    applied: Finalist | None

    @property
    def default_seconds(self) -> float | None:
        """The least time of IREE's default; None if it is wrong."""
        return self.search.default.seconds if self.search.default else None


@dataclass(frozen=True)
class TuningResult:
    """A tuned program.

    Attributes:
        weights: of the operations with IREE's default, each by its own.
        operations: the operations with a search, the heaviest first.
        untuned: the share of the operations that have no configuration to search for.
        spec: the file of the tuning spec; None if no search found a faster configuration.
        agreement: of the results of the whole program with and without it; None without a spec.
        times: of the whole program; the same compilation twice without a spec.
    """

    weights: ModelWeights
    operations: list[TunedOperation]
    untuned: float
    spec: Path | None
    agreement: Agreement | None
    times: WholeTimes


# The first operation of a root, and the share and the count of all with that root.
_Root = tuple[Operation, float, int]


class ModelTuner:
    """Tunes a program: measures its operations, searches for the heavy ones, and writes a spec.

    Args:
        program: an MLIR file with linalg operations on tensors.
        sweep: the folder of the kernels, and their limits.
        report: called with the progress of the first measurement.
        progress: called with an operation and the progress of its search.

    Raises:
        UsageError: the program has no operations, its function cannot be called, or the spec has no
            folder, or would overwrite the program or a recording.
        ProviderMissing: IREE is not installed.
    """

    def __init__(
        self,
        program: Path,
        settings: TuneSettings,
        sweep: SweepSettings,
        *,
        report: Report | None = None,
        progress: Callable[[Operation, SearchProgress], None] | None = None,
    ) -> None:
        if settings.spec is not None and not settings.spec.parent.is_dir():
            raise UsageError(f"The folder of {settings.spec} does not exist: make it first.")
        if settings.spec is not None:
            check_overwritten(settings.spec, [str(program)])
        self._settings = settings
        self._sweep = replace(sweep, verify=True, profile=True, bisect=False)
        self._progress = progress
        self._operations = {each.name: each for each in operations_of(program)}
        self._kernels = Kernels(self._sweep, providers=(PROVIDER,), report=report)
        self._provider = self._kernels.providers[PROVIDER]
        self._folder = self._kernels.folder.path / "whole" / program.stem
        self._model = WholeModel(program, self._folder, settings.function)
        self._start = partial(
            KernelProcess, seconds=self._sweep.run_seconds, memory=self._sweep.memory_bytes
        )

    def weigh(self) -> ModelWeights:
        """Measure each operation with IREE's default; see ``tune``."""
        dispatches = [
            Dispatch(each, self._provider.default(each)) for each in self._operations.values()
        ]
        self._kernels.write(dispatches)
        return model_weights(entries_of(self._kernels.run(dispatches)))

    def tune(self, weights: ModelWeights) -> TuningResult:
        """Search, write the spec, and measure the whole program with and without it, in turn.

        Args:
            weights: of the operations with IREE's default.

        Raises:
            KernelError: IREE cannot compile the program, or it fails.
            KeyboardInterrupt: the logs of the searches have all trials so far.
        """
        roots = self._model.roots()
        default = self._model.compile("default")
        groups = self._groups(weights, {each.key for each in roots})
        searched: list[TunedOperation] = []
        for each in groups:
            searched.append(self._search(each, searched))
        spec = self._write_spec(roots, searched)
        tuned, agreement = default, None
        if spec is not None:
            tuned = self._model.compile("tuned", spec)
            agreement = compare_results(default, tuned, self._start)
        times = measure_in_turn(default[0], tuned[0], self._start, _REPETITIONS)
        untuned = 100.0 - sum(each.share for each in searched)
        return TuningResult(weights, searched, untuned, spec, agreement, times)

    def _groups(self, weights: ModelWeights, keys: set[RootKey]) -> list[_Root]:
        """Return the roots that are worth a search: one search serves all operations of a root."""
        by_key: dict[RootKey, dict[str, Weight]] = {}
        for weight in weights.weights:
            operation = self._operations[weight.entry.operation]
            if root_key(operation) in keys and self._provider.space(operation):
                by_key.setdefault(root_key(operation), {})[operation.name] = weight
        groups = [
            (
                next(each for name, each in self._operations.items() if name in members),
                sum(each.share for each in members.values()),
                sum(each.count for each in members.values()),
            )
            for members in by_key.values()
        ]
        heavy = [(each, share, count) for each, share, count in groups if share >= _LEAST_SHARE]
        return sorted(heavy, key=lambda root: root[1], reverse=True)

    def _search(self, root: _Root, heavier: Sequence[TunedOperation]) -> TunedOperation:
        """Search for a root; what won for heavier ones of its kind is tried first."""
        operation, share, count = root
        alike = [each.search for each in heavier if each.search.operation.kind == operation.kind]
        budget = max(_LEAST_TRIALS, ceil(self._settings.budget * share / 100.0))
        report = self._progress
        result = search(
            operation,
            self._provider,
            budget=budget,
            seed=self._settings.seed,
            settings=self._sweep,
            compare_with_c=False,
            likely=[each.best_parameters for each in alike],
            progress=None if report is None else partial(report, operation),
        )
        # The fastest that a spec can have: it has tile sizes, and no flags of the compiler.
        fits = (each for each in result.finalists if lowering_of(each.configuration) is not None)
        best, default = next(fits, None), result.default
        wins = best is not None and default is not None and best.is_clearly_faster(default)
        return TunedOperation(result, share, count, best if wins else None)

    def _write_spec(
        self, roots: Sequence[ModelRoot], searched: Sequence[TunedOperation]
    ) -> Path | None:
        """Write the spec of the winners; None if there is none."""
        winners: dict[RootKey, Configuration] = {
            root_key(each.search.operation): each.applied.configuration
            for each in searched
            if each.applied is not None
        }
        if not winners:
            return None
        path = self._settings.spec or self._folder / SPEC
        chosen = [(each, winners[each.key]) for each in roots if each.key in winners]
        lowered = [(root, lowering_of(configuration)) for root, configuration in chosen]
        tuned = [(root, lowering) for root, lowering in lowered if lowering is not None]
        write_file(path, tuning_spec(tuned))
        return path


@dataclass(frozen=True)
class Agreement:
    """How far the results of two compilations agree.

    Attributes:
        difference: the largest of two elements at the same place.
        largest: the largest element of the first compilation.
        finite: whether all elements of the first compilation are; others show no difference.
    """

    difference: float
    largest: float
    finite: bool = True

    @property
    def holds(self) -> bool:
        """Whether the results agree up to the rounding of reordered sums."""
        return self.difference <= _TOLERANCE * self.largest


@dataclass(frozen=True)
class WholeTimes:
    """The times of two compilations, measured in turn.

    Attributes:
        default: seconds of a call of the program without tuning, one number a repetition.
        tuned: seconds of a call of the tuned program.
    """

    default: tuple[float, ...]
    tuned: tuple[float, ...]

    @property
    def gain(self) -> float:
        """How many times as fast the second one is: the median of all repetitions."""
        pairs = zip(self.default, self.tuned, strict=True)
        return median(first / second for first, second in pairs)

    @property
    def wins(self) -> int:
        """In how many repetitions the second one is faster."""
        return sum(one > other for one, other in zip(self.default, self.tuned, strict=True))

    @property
    def is_clear(self) -> bool:
        """Whether one is the faster in so many repetitions that it cannot be chance."""
        count = len(self.default)
        return max(self.wins, count - self.wins) >= _CLEAR * count


def compare_results(
    first: Sequence[KernelBinary], second: Sequence[KernelBinary], start: StartKernel
) -> Agreement:
    """Compare the results of two compilations of a program, for the same random operands.

    Args:
        first: the program once for each of its results.
        second: another compilation of it.
        start: starts one in a process of its own.

    Raises:
        KernelError: a program failed.
    """
    inputs = program_operands(first[0].inputs)
    found: list[Agreement] = []
    for one, other in zip(first, second, strict=True):
        with start(one) as expected, start(other) as actual:
            found.append(_agreement(expected.run(inputs), actual.run(inputs)))
    worst = max(found, key=lambda each: each.difference / (each.largest or 1.0))
    return worst if all(each.finite for each in found) else Agreement(0.0, 0.0, finite=False)


def measure_in_turn(
    first: KernelBinary, second: KernelBinary, start: StartKernel, repetitions: int
) -> WholeTimes:
    """Measure two compilations of a program in turn, so that both see the same machine.

    Raises:
        KernelError: a program failed.
    """
    inputs = program_operands(first.inputs)
    times: tuple[list[float], list[float]] = ([], [])
    with ExitStack() as processes:
        live = [processes.enter_context(start(each)) for each in (first, second)]
        for each in live:
            each.load(inputs)
        calls = [calibrated_calls(each) for each in live]
        for repetition in range(repetitions):
            for at in (0, 1) if repetition % 2 == 0 else (1, 0):
                times[at].append(live[at].time(calls[at])[0] / calls[at])
    return WholeTimes(tuple(times[0]), tuple(times[1]))


def program_operands(inputs: Sequence[Tensor]) -> list[np.ndarray]:
    """Return operands with which a network keeps its numbers small: the same each time.

    Vectors are positive, as variances are; the elements of others are random numbers whose sums
    over all dimensions but the last are near 1.
    """
    numbers = np.random.default_rng(_OPERAND_SEED)
    arrays: list[np.ndarray] = []
    for tensor in inputs:
        if not tensor.type.is_float:
            limit = 2 if tensor.type is ElementType.I1 else _SMALL_INDEX
            values = numbers.integers(0, limit, tensor.shape)
        elif len(tensor.shape) < 2:
            values = numbers.uniform(0.5, 1.5, tensor.shape)
        else:
            values = numbers.standard_normal(tensor.shape) / sqrt(prod(tensor.shape[:-1]))
        arrays.append(np.asarray(values).astype(tensor.type.dtype))
    return arrays


def _agreement(expected: np.ndarray, actual: np.ndarray) -> Agreement:
    one, other = expected.astype(np.float64), actual.astype(np.float64)
    if not np.isfinite(one).all():
        return Agreement(0.0, 0.0, finite=False)
    difference = np.abs(one - other)
    largest = float(np.abs(one).max(initial=0.0))
    worst = float(difference.max(initial=0.0)) if np.isfinite(other).all() else float("inf")
    return Agreement(worst, largest)
