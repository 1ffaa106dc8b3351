"""Compilation on the workers of a Dask cluster."""

from __future__ import annotations

import weakref
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from actiondbg.kernels.errors import CompileError
from actiondbg.kernels.generated.compiled_state import with_paths
from actiondbg.kernels.generated.layout import CONFIGURED
from actiondbg.kernels.model.dispatch import Dispatch
from actiondbg.kernels.providers.provider import CompiledKernel, Provider
from actiondbg.kernels.providers.steps import CompilationSteps
from actiondbg.support.dask_client import DaskClient, connect
from actiondbg.support.scratch_directory import scratch_directory


@dataclass(frozen=True)
class _RemoteResult:
    """What a worker sends back.

    Attributes:
        identity: of the worker's compiler.
        kernel: with paths relative to the folder; None if the compilation failed.
        error: one sentence if it failed.
        files: the content of the folder.
        commands: that ran.
    """

    identity: str
    kernel: CompiledKernel | None
    error: str
    files: dict[str, bytes]
    commands: list[str]


def compile_on_worker(
    provider: Provider, dispatch: Dispatch, source: bytes, seconds: float
) -> _RemoteResult:
    """Compile a dispatch in a scratch directory of a worker."""
    with scratch_directory("kernels") as folder:
        (folder / CONFIGURED).write_bytes(source)
        given = {each.name for each in folder.iterdir()}
        steps = CompilationSteps(folder, seconds)
        kernel, message = None, ""
        try:
            compiled = provider.compile(dispatch, folder, steps)
            kernel = with_paths(compiled, lambda path: path.relative_to(folder))
        except CompileError as error:
            message = str(error)
        made = [each for each in folder.iterdir() if each.is_file() and each.name not in given]
        files = {each.name: each.read_bytes() for each in made}
        return _RemoteResult(provider.identity(), kernel, message, files, steps.lines)


class ClusterCompiler:
    """Compiles on the workers of a Dask cluster, which need no common file system.

    The connection is closed with the last reference to this object.

    Args:
        address: of the scheduler.

    Attributes:
        jobs: how many dispatches the workers compile at a time.

    Raises:
        UsageError: the scheduler cannot be reached or has no workers, or Dask is not installed.
    """

    def __init__(self, address: str) -> None:
        self._client: DaskClient = connect(address)
        weakref.finalize(self, self._client.close)
        self.jobs = sum(self._client.nthreads().values())

    def compile(
        self, provider: Provider, dispatch: Dispatch, folder: Path, steps: CompilationSteps
    ) -> CompiledKernel:
        """Compile a dispatch; the binaries are then in its folder.

        Raises:
            CompileError: a step failed.
        """
        source = (folder / CONFIGURED).read_bytes()
        future = self._client.submit(
            compile_on_worker, provider, dispatch, source, steps.seconds, pure=False
        )
        try:
            result = cast(_RemoteResult, future.result())
        except Exception as error:
            raise CompileError(f"The Dask worker failed ({error}): see its log.") from error
        for name, content in result.files.items():
            (folder / name).write_bytes(content)
        steps.lines += result.commands
        if result.identity != provider.identity():
            raise CompileError(
                "The Dask worker has another compiler or target than this machine: "
                f"{result.identity} instead of {provider.identity()}."
            )
        if result.kernel is None:
            raise CompileError(result.error)
        return with_paths(result.kernel, lambda path: folder / path)
