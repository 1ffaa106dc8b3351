"""The compilation of dispatches that are not up to date, here or on workers of Dask."""

from __future__ import annotations

import time
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from actiondbg.errors import ActiondbgError
from actiondbg.kernels.errors import CompileError
from actiondbg.kernels.generated import (
    CONFIGURED,
    CompiledState,
    GeneratedFolder,
    compilation_key,
    with_paths,
)
from actiondbg.kernels.model import Dispatch
from actiondbg.kernels.providers.provider import CompiledKernel, Provider
from actiondbg.kernels.providers.steps import LOG, CompilationSteps
from actiondbg.kernels.results.entry import Compilation
from actiondbg.kernels.sweep.settings import SweepSettings
from actiondbg.support.atomic_write import locked
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


@dataclass(frozen=True)
class CompiledDispatch:
    """A dispatch after its compilation.

    Attributes:
        kernel: None if it failed, or in a dry run.
        state: the stored results of the binaries, or None.
    """

    dispatch: Dispatch
    compilation: Compilation
    kernel: CompiledKernel | None = None
    state: CompiledState | None = None


class DispatchCompiler:
    """Compiles dispatches into their folders."""

    def __init__(
        self,
        settings: SweepSettings,
        providers: Mapping[str, Provider],
        cluster: ClusterCompiler | None = None,
        show: Callable[[str], None] | None = None,
    ) -> None:
        self._settings = settings
        self._folder = GeneratedFolder(settings.generated_dir.resolve())
        self._providers = providers
        self._identities = {name: each.identity() for name, each in providers.items()}
        self._cluster = cluster
        self._show = show

    def compile(self, dispatch: Dispatch) -> CompiledDispatch:
        """Compile a dispatch, unless it is up to date. May be called from several threads.

        Raises:
            OSError: a file cannot be written, such as on a full disk.
        """
        provider = self._providers[dispatch.configuration.provider]
        obstacle = provider.obstacle(dispatch)
        if obstacle is not None:
            return CompiledDispatch(dispatch, Compilation(None, error=obstacle))
        folder = self._folder.of_dispatch(dispatch)
        if self._settings.dry_run:
            steps = CompilationSteps(folder, dry_run=True, show=self._show)
            provider.compile(dispatch, folder, steps)
            return CompiledDispatch(dispatch, Compilation(None))
        with locked(folder):
            identity = self._identities[provider.name]
            state = CompiledState(folder, compilation_key(dispatch, folder, identity))
            kernel = None if self._settings.force_compile else state.kernel()
            if kernel is not None:
                compilation = Compilation(None, kernel.config_applied, detail=kernel.detail)
                return CompiledDispatch(dispatch, compilation, kernel, state)
            return self._compile(dispatch, provider, folder, state)

    def _compile(
        self, dispatch: Dispatch, provider: Provider, folder: Path, state: CompiledState
    ) -> CompiledDispatch:
        """Compile; the caller holds the lock of the folder."""
        state.drop()
        (folder / LOG).unlink(missing_ok=True)
        steps = CompilationSteps(folder, self._settings.compile_seconds, show=self._show)
        started = time.perf_counter()
        try:
            if self._cluster is None:
                kernel = provider.compile(dispatch, folder, steps)
            else:
                kernel = self._cluster.compile(provider, dispatch, folder, steps)
        except CompileError as error:
            seconds = time.perf_counter() - started
            return CompiledDispatch(dispatch, Compilation(seconds, error=str(error)))
        except ActiondbgError as error:
            return CompiledDispatch(dispatch, Compilation(None, error=str(error)))
        finally:
            if self._settings.save_commands:
                steps.save()
        state.store_kernel(kernel)
        seconds = time.perf_counter() - started
        compilation = Compilation(seconds, kernel.config_applied, detail=kernel.detail)
        return CompiledDispatch(dispatch, compilation, kernel, state)
