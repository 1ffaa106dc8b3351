"""Kernels in C, right and wrong ones, in processes of their own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy
import pytest

from actiondbg.kernels.errors import (
    KernelCrashed,
    KernelError,
    KernelOutOfMemory,
    KernelTimedOut,
    LoaderFailed,
    NotRunnable,
    WroteOutOfBounds,
)
from actiondbg.kernels.execution.kernel import KernelBinary
from actiondbg.kernels.execution.kernel_process import KernelProcess
from actiondbg.kernels.operations.matmul import Matmul
from tests.elements import some
from tests.fakes.kernels.c_kernel import MATMUL, compile_kernel
from tests.paths import ROOT
from tests.processes import descendants, is_alive, wait_for_end

OPERATION = Matmul(8, 12, 16)
RIGHT = MATMUL.format(m=8, n=12, k=16)
MEMORY = 256 << 20

Compile = Callable[[str], KernelBinary]


@pytest.fixture
def compiled(tmp_path: Path) -> Compile:
    return lambda body: compile_kernel(tmp_path, OPERATION, body)


@pytest.fixture
def operands() -> list[numpy.ndarray]:
    generator = numpy.random.default_rng(1)
    return [
        generator.integers(-3, 4, each.shape).astype(each.type.dtype) for each in OPERATION.inputs
    ]


def run(
    binary: KernelBinary, operands: list[numpy.ndarray], seconds: float = 60.0
) -> numpy.ndarray:
    with KernelProcess(binary, seconds=seconds, memory=MEMORY) as process:
        return process.run(operands)


def family() -> set[int]:
    return {pid for pid in descendants(os.getpid()) if is_alive(pid)}


def test_a_kernel_computes_and_is_measured(
    compiled: Compile, operands: list[numpy.ndarray]
) -> None:
    expected = operands[0] @ operands[1]
    with KernelProcess(compiled(RIGHT), seconds=60.0) as process:
        assert numpy.array_equal(process.run(operands), expected)
        process.load(operands)
        seconds, switches = process.time(10)
        assert seconds > 0
        assert switches >= 0
        assert numpy.array_equal(process.run(operands), expected)


def test_two_kernels_are_measured_in_turn(tmp_path: Path, operands: list[numpy.ndarray]) -> None:
    folders = [tmp_path / "slow", tmp_path / "quick"]
    for folder in folders:
        folder.mkdir()
    slow = compile_kernel(folders[0], OPERATION, "usleep(20000);")
    quick = compile_kernel(folders[1], OPERATION, "")
    with KernelProcess(slow) as one, KernelProcess(quick) as other:
        one.load(operands)
        other.load(operands)
        for _ in range(3):
            assert one.time(2)[0] >= 0.04
            assert other.time(2)[0] > 0


def test_what_a_kernel_prints_disturbs_nothing(
    compiled: Compile, operands: list[numpy.ndarray], capfd: pytest.CaptureFixture[str]
) -> None:
    noise = 'for (int i = 0; i < 10000; i++) puts("[\\"\\", \\"\\", 0.0, 0]"); fflush(stdout);'
    result = run(compiled(noise + RIGHT), operands)
    assert numpy.array_equal(result, operands[0] @ operands[1])
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            "*(volatile int *)0 = 1;",
            "The kernel was killed by SIGSEGV: Invalid access: address 0x0.",
        ),
        ("abort();", "The kernel was killed by SIGABRT."),
        (
            'fputs("assertion i < 4 failed\\n", stderr); abort();',
            "The kernel was killed by SIGABRT: assertion i < 4 failed",
        ),
        ("exit(3);", "The kernel ended its process with exit status 3."),
        ("exit(0);", "The kernel ended its process with exit status 0."),
        ("raise(9);", "The kernel was killed by SIGKILL"),
        (
            "result[96] = 1;",
            "The kernel was killed by SIGSEGV: Invalid access: 1 byte past the end of result.",
        ),
        (
            "volatile float x = lhs[128 + 2];",
            "The kernel was killed by SIGSEGV: Invalid access: 9 bytes past the end of lhs.",
        ),
        ("for (int i = 3; i < 100; i++) close(i);", "exit status"),
    ],
)
def test_a_crash_is_an_error_with_its_cause(
    compiled: Compile, operands: list[numpy.ndarray], body: str, message: str
) -> None:
    with pytest.raises((KernelCrashed, KernelOutOfMemory)) as error:
        run(compiled(body), operands)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("result[-1] = 1;", "The kernel wrote 4 bytes before the start of result."),
        ("*(float *)lhs = 77;", "The kernel wrote into its operand lhs."),
    ],
)
def test_a_write_outside_of_the_result_is_reported(
    compiled: Compile, operands: list[numpy.ndarray], body: str, message: str
) -> None:
    with pytest.raises(WroteOutOfBounds) as error:
        run(compiled(RIGHT + body), operands)
    assert str(error.value) == message


def test_a_write_within_the_last_64_bytes_past_the_result_is_reported(tmp_path: Path) -> None:
    operation = Matmul(3, 3, 1)
    binary = compile_kernel(tmp_path, operation, "result[9] = 1;")
    operands = [numpy.ones(each.shape, each.type.dtype) for each in operation.inputs]
    with pytest.raises(WroteOutOfBounds, match=r"wrote 4 bytes past the end of result\."):
        run(binary, operands)


def test_what_a_kernel_does_not_write_is_nan(
    compiled: Compile, operands: list[numpy.ndarray]
) -> None:
    result = run(compiled("result[5] = 2;"), operands)
    assert result[0, 5] == 2
    assert numpy.isnan(result).sum() == result.size - 1


@pytest.mark.parametrize("group", ["", "setsid();"])
def test_an_endless_loop_is_ended_with_all_that_it_started(
    compiled: Compile, operands: list[numpy.ndarray], tmp_path: Path, group: str
) -> None:
    note = tmp_path / "pids"
    # The end of a process with much memory takes a while.
    body = f"""FILE *f = fopen("{note}", "w");
        for (int i = 0; i < 8; ++i) {{
            int pid = fork();
            if (!pid) {{ {group} fork(); memset(malloc(40 << 20), 1, 40 << 20); break; }}
            fprintf(f, "%d\\n", pid);
            fflush(f);
        }}
        for (;;) pause();"""
    before = family()
    with pytest.raises(KernelTimedOut, match=r"The kernel did not finish in 1 s\."):
        run(compiled(body), operands, seconds=1)
    started = [int(line) for line in note.read_text().splitlines()]
    assert len(started) == 8
    assert not [pid for pid in started if is_alive(pid)]
    assert len(family() - before) <= 1  # the server


def test_a_kernel_that_allocates_without_end_is_out_of_memory(
    compiled: Compile, operands: list[numpy.ndarray]
) -> None:
    with pytest.raises(KernelOutOfMemory) as error:
        run(compiled("for (;;) memset(malloc(1 << 24), 1, 1 << 24);"), operands)
    assert str(error.value) == "The kernel needed more than the limit of 256 MiB."


def test_operands_that_exceed_the_limit_are_out_of_memory(compiled: Compile) -> None:
    large = Matmul(1, 1, MEMORY // 4)
    binary = replace(compiled(""), inputs=large.inputs, result=large.result)
    operands = [numpy.zeros(each.shape, each.type.dtype) for each in large.inputs]
    with pytest.raises(KernelOutOfMemory):
        run(binary, operands)


def test_a_crash_leaves_the_next_kernel_alone(
    compiled: Compile, operands: list[numpy.ndarray]
) -> None:
    with pytest.raises(KernelCrashed):
        run(compiled("abort();"), operands)
    assert numpy.array_equal(run(compiled(RIGHT), operands), operands[0] @ operands[1])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"symbol": "absent"}, "undefined symbol: absent"),
        ({"path": Path("absent.so")}, "cannot open shared object file"),
        ({"loader": "tests.fakes.kernels.c_kernel:absent"}, "no attribute 'absent'"),
    ],
)
def test_a_kernel_that_cannot_be_loaded(
    compiled: Compile, change: dict[str, str], message: str
) -> None:
    with pytest.raises(LoaderFailed) as error:
        KernelProcess(replace(compiled(RIGHT), **change))
    assert message in str(error.value)


def test_a_kernel_whose_loader_is_not_installed_cannot_be_run_here(compiled: Compile) -> None:
    with pytest.raises(NotRunnable, match="needs the Python module absent_module"):
        KernelProcess(replace(compiled(RIGHT), loader="absent_module:load"))


def test_a_server_that_was_killed_is_started_again(
    compiled: Compile, operands: list[numpy.ndarray]
) -> None:
    before = family()
    binary = compiled(RIGHT)
    with KernelProcess(binary) as process:
        for pid in some(family() - before):
            os.kill(pid, signal.SIGKILL)
        with pytest.raises(KernelError):
            process.run(operands)
    assert numpy.array_equal(run(binary, operands), operands[0] @ operands[1])


PARENT = """
import sys
import numpy
from actiondbg.kernels.execution.kernel_process import KernelProcess
from actiondbg.kernels.operations.matmul import Matmul
from pathlib import Path
from tests.fakes.kernels.c_kernel import compile_kernel

operation = Matmul(8, 12, 16)
binary = compile_kernel(Path(sys.argv[1]), operation, "for (;;) pause();")
operands = [numpy.zeros(each.shape, each.type.dtype) for each in operation.inputs]
with KernelProcess(binary) as process:
    print("started", flush=True)
    process.run(operands)
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_nothing_outlives_the_parent(tmp_path: Path, number: signal.Signals) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, str(tmp_path)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"started\n"
        started = descendants(parent.pid)
        assert len(started) == 2
        parent.send_signal(number)
        parent.wait(60)
        wait_for_end(started)


def test_an_interrupt_of_a_sweep_ends_the_kernel_that_runs(tmp_path: Path) -> None:
    program = [sys.executable, "-m", "tests.tool.kernels.interrupted_sweep", str(tmp_path)]
    with subprocess.Popen(program, cwd=ROOT, stdout=subprocess.PIPE, text=True) as sweep:
        deadline = time.monotonic() + 120
        while not [*tmp_path.rglob("started")]:
            assert time.monotonic() < deadline
            assert sweep.poll() is None
            time.sleep(0.01)
        started = descendants(sweep.pid)
        sweep.send_signal(signal.SIGINT)
        try:
            output, _ = sweep.communicate(timeout=120)  # less than the limit of the kernel
        finally:
            sweep.kill()
    assert output.splitlines() == ["done 1", "matmul_8x8x8_f32t_f32t_f32t_c_default SUCCESS"]
    assert not any(map(is_alive, started))
    # The third one was not begun.
    assert len([*tmp_path.rglob("kernel.so")]) == 2
