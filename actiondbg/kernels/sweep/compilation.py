"""The compilation of dispatches that are not up to date."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from actiondbg.errors import ActiondbgError
from actiondbg.kernels.errors import CompileError
from actiondbg.kernels.generated.compiled_state import CompiledState, compilation_key
from actiondbg.kernels.generated.layout import GeneratedFolder
from actiondbg.kernels.model.dispatch import Dispatch
from actiondbg.kernels.providers.provider import CompiledKernel, Provider
from actiondbg.kernels.providers.steps import LOG, CompilationSteps
from actiondbg.kernels.results.row import Compilation
from actiondbg.kernels.sweep.cluster import ClusterCompiler
from actiondbg.kernels.sweep.settings import SweepSettings
from actiondbg.support.atomic_write import locked


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
