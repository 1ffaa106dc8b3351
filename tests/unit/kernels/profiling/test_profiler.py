"""Kernels are measured in turn, and the fastest of each operation again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from actiondbg.kernels.errors import KernelCrashed, KernelError, LoaderFailed
from actiondbg.kernels.execution.kernel import KernelBinary
from actiondbg.kernels.model import Configuration, Dispatch, Operation
from actiondbg.kernels.operations.matmul import Matmul
from actiondbg.kernels.profiling.peaks import Level, MachinePeaks
from actiondbg.kernels.profiling.profiler import ENOUGH_SECONDS, Kernel, Profiler, calibrated_calls
from actiondbg.kernels.providers.provider import CompiledKernel
from actiondbg.kernels.results.entry import Profile
from actiondbg.statistics.events import KNOWN
from tests.fakes.kernels.timed_kernel import FakeTimedKernel

_MATMUL = Matmul(8, 8, 8)


class _Machine:
    """Starts kernels by their names; each start of a name takes the next of its kernels."""

    def __init__(self, **seconds: float | Callable[[int], float]) -> None:
        self.log: list[tuple[str, int]] = []
        self._seconds = seconds
        self.crashes: dict[str, int] = {}
        self.unloadable: set[str] = set()
        self.most = 0
        self.calls: dict[str, list[float]] = {}

    def start(self, binary: KernelBinary) -> FakeTimedKernel:
        self.most = max(self.most, FakeTimedKernel.live + 1)
        name = binary.symbol
        given = self._seconds[name]
        return FakeTimedKernel(
            name,
            self.log,
            given if callable(given) else lambda _: given,
            self.crashes.get(name),
            name not in self.unloadable,
            self.calls.get(name),
        )


def _kernel(name: str, operation: Operation = _MATMUL) -> Kernel:
    binary = KernelBinary("m:f", Path(name), name, operation.inputs, operation.result)
    dispatch = Dispatch(operation, Configuration("fake", name))
    return dispatch, CompiledKernel(binary, binary, "yes")


def _profile(profile: Profile | KernelError) -> Profile:
    assert isinstance(profile, Profile)
    return profile


def test_repetitions_take_turns_with_another_first_each_time() -> None:
    machine = _Machine(a=1.0, b=2.0, c=3.0)
    kernels = [_kernel(name, Matmul(8, 8, size)) for size, name in enumerate("abc", 1)]
    Profiler(machine.start, repetitions=3, batch_size=10).profile(kernels)
    assert machine.log == [(name, 10) for name in "abc" + "abc" + "bca" + "cab"]  # warm first


def test_what_a_call_takes_is_the_least_that_was_measured() -> None:
    machine = _Machine(a=1.0, b=2.0)
    machine.calls = {"a": [0.3, 0.2, 0.4, 0.1]}
    kernels = [_kernel("a"), _kernel("b", Matmul(8, 8, 4))]
    measured = Profiler(machine.start, repetitions=3, batch_size=1).profile(kernels)
    assert _profile(measured[kernels[0][0].name]).call_seconds == 0.2
    assert _profile(measured[kernels[1][0].name]).call_seconds is None


def test_events_are_those_of_one_call() -> None:
    machine = _Machine(a=1.0)
    kernel = _kernel("a")
    events = (KNOWN["cycles"], KNOWN["instructions"])
    profiler = Profiler(machine.start, repetitions=2, batch_size=4, events=events)
    profile = _profile(profiler.profile([kernel])[kernel[0].name])
    assert profile.counts == {"cycles": 1.0, "instructions": 2.0}
    plain = Profiler(machine.start, repetitions=2, batch_size=4).profile([kernel])
    assert _profile(plain[kernel[0].name]).counts == {}


def test_times_are_those_of_one_call() -> None:
    machine = _Machine(a=lambda request: request * 0.5)
    kernel = _kernel("a")
    profile = Profiler(machine.start, repetitions=3, batch_size=4).profile([kernel])
    assert profile == {kernel[0].name: Profile((0.5, 1.0, 1.5))}


def test_a_repetition_has_as_many_calls_as_take_some_milliseconds() -> None:
    machine = _Machine(a=1e-6)
    assert calibrated_calls(machine.start(_kernel("a")[1].profile)) == round(ENOUGH_SECONDS / 1e-6)
    assert [calls for _, calls in machine.log] == [1, 1, 10, 100, 1000]


@pytest.mark.parametrize("seconds, calls", [(1.0, 1), (0.002, 2), (0.0, 10_000_000)])
def test_calibration_ends(seconds: float, calls: int) -> None:
    machine = _Machine(a=seconds)
    assert calibrated_calls(machine.start(_kernel("a")[1].profile)) == calls


def test_the_fastest_is_measured_again_after_the_choice() -> None:
    machine = _Machine(a=2.0, b=1.0, c=3.0, d=1.0)
    other = _kernel("d", Matmul(1, 1, 1))  # nothing was chosen for it
    kernels = [*map(_kernel, "abc"), other]
    measured = Profiler(machine.start, repetitions=2, batch_size=1).profile(kernels)
    confirmed = {name: _profile(profile).confirmed for name, profile in measured.items()}
    assert confirmed == {each[0].name: 1.0 if each is kernels[1] else None for each in kernels}
    assert [name for name, _ in machine.log[-3:]] == ["b"] * 3


def test_a_wrong_kernel_is_not_the_fastest() -> None:
    machine = _Machine(a=2.0, b=1.0, c=3.0)
    kernels = [*map(_kernel, "abc")]
    right = {kernels[0][0].name, kernels[2][0].name}
    measured = Profiler(machine.start, repetitions=1, batch_size=1).profile(kernels, right)
    assert _profile(measured[kernels[0][0].name]).confirmed == 2.0
    assert _profile(measured[kernels[1][0].name]).confirmed is None


def test_kernels_that_fail_leave_the_others_in_turn() -> None:
    machine = _Machine(a=1.0, b=1.0, c=1.0)
    machine.crashes["a"] = 2
    machine.unloadable.add("b")
    kernels = [*map(_kernel, "abc")]
    measured = Profiler(machine.start, repetitions=4, batch_size=1).profile(kernels)
    crashed, unloadable, right = (measured[each.name] for each, _ in kernels)
    assert isinstance(crashed, KernelCrashed)
    assert str(crashed) == "The kernel crashed: SIGSEGV."
    assert isinstance(unloadable, LoaderFailed)
    assert right == Profile((1.0,) * 4)
    assert FakeTimedKernel.live == 0


def test_an_interrupt_ends_all_processes() -> None:
    def interrupt(request: int) -> float:
        if request == 2:
            raise KeyboardInterrupt
        return 1.0

    machine = _Machine(a=1.0, b=interrupt)
    with pytest.raises(KeyboardInterrupt):
        Profiler(machine.start, batch_size=1).profile([*map(_kernel, "ab")])
    assert FakeTimedKernel.live == 0


def test_few_processes_live_at_once() -> None:
    names = [f"k{number}" for number in range(100)]
    machine = _Machine(**dict.fromkeys(names, 1.0))
    measured = Profiler(machine.start, repetitions=1, batch_size=1).profile([*map(_kernel, names)])
    assert len(measured) == 100
    assert machine.most == 16


def test_large_operands_are_not_held_together() -> None:
    large = Matmul(8192, 8192, 1)  # 256 MiB
    machine = _Machine(a=1.0, b=1.0, c=1.0, d=1.0, e=1.0)
    Profiler(machine.start, repetitions=1, batch_size=1).profile(
        [_kernel(name, large) for name in "abcde"]
    )
    assert machine.most == 3


def test_profiles_have_the_peaks_of_their_operations() -> None:
    machine = _Machine(a=1.0)
    peaks = MachinePeaks({"f32": 100.0}, (Level("memory", 1, 10e9),))
    (profile,) = Profiler(machine.start, peaks=lambda: peaks).profile([_kernel("a")]).values()
    assert _profile(profile).peak_gflops == 100.0
    assert _profile(profile).peak_bandwidth == 10e9


def test_peaks_are_not_measured_for_nothing() -> None:
    def fail() -> None:
        raise AssertionError

    assert Profiler(_Machine().start, peaks=fail).profile([]) == {}
