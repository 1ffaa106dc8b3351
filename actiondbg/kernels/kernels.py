"""The Python API of kernels: generate, compile, verify and profile the dispatches of a folder."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from actiondbg.kernels.generated import GeneratedFolder, read_manifest
from actiondbg.kernels.model import Configuration, Dispatch, Operation
from actiondbg.kernels.providers.provider import Provider, ProviderSettings
from actiondbg.kernels.providers.registry import make_provider
from actiondbg.kernels.results.entry import Row
from actiondbg.kernels.sweep.generation import (
    DispatchFilter,
    PlannedDispatches,
    plan_dispatches,
    write_dispatches,
)
from actiondbg.kernels.sweep.settings import SweepSettings
from actiondbg.kernels.sweep.sweep import Report, Sweep, make_stages


class Kernels:
    """The kernels of a folder::

        kernels = Kernels(SweepSettings(generated_dir=Path("build")))
        for row in kernels.run(kernels.generate([Matmul(64, 128, 256)])):
            print(row.dispatch.name, row.verification)

    Args:
        settings: what a sweep does, where, and its limits.
        providers: the names of the compilers; others that the folder has are made when needed.
        report: called with each change of the progress.
        show: prints a command that runs.
        warn: prints a sentence on what reports will lack.

    Raises:
        UsageError: there is no such provider.
    """

    def __init__(
        self,
        settings: SweepSettings | None = None,
        *,
        providers: Sequence[str] = ("mlir",),
        provider_settings: ProviderSettings | None = None,
        report: Report | None = None,
        show: Callable[[str], None] | None = None,
        warn: Callable[[str], None] | None = None,
    ) -> None:
        self.settings = settings or SweepSettings()
        self.folder = GeneratedFolder(self.settings.generated_dir.resolve())
        self._provider_settings = provider_settings or ProviderSettings()
        self.providers: dict[str, Provider] = {}
        self._make_providers(providers)
        self._report = report
        self._show = show
        self._warn = warn

    def plan(
        self,
        operations: Iterable[Operation],
        *,
        configurations: Sequence[Configuration] = (),
        default: bool = False,
        split_k: Sequence[int] = (),
    ) -> PlannedDispatches:
        """Plan the dispatches of operations; see ``plan_dispatches``.

        Raises:
            UsageError: the shapes of an operation do not fit its kind.
        """
        self._make_providers(each.provider for each in configurations)
        return plan_dispatches(
            operations,
            list(self.providers.values()),
            own=configurations,
            default=default,
            split_k=split_k,
        )

    def write(self, dispatches: Sequence[Dispatch]) -> None:
        """Write the files of dispatches and the manifest.

        Raises:
            OSError: a file cannot be written.
        """
        self._make_providers(each.configuration.provider for each in dispatches)
        write_dispatches(self.folder, self.providers, dispatches)

    def generate(
        self,
        operations: Iterable[Operation],
        *,
        configurations: Sequence[Configuration] = (),
        default: bool = False,
    ) -> list[Dispatch]:
        """Plan dispatches and write them; see ``plan`` and ``write``."""
        planned = self.plan(operations, configurations=configurations, default=default)
        self.write(planned.dispatches)
        return planned.dispatches

    def select(self, chosen: DispatchFilter | None = None) -> list[Dispatch]:
        """Return generated dispatches.

        Raises:
            ActiondbgError: none is generated or selected, or the manifest is damaged.
        """
        return (chosen or DispatchFilter()).select(read_manifest(self.folder.manifest))

    def sweep(self, dispatches: Sequence[Dispatch]) -> Sweep:
        """Return the sweep over dispatches, to be run: its rows outlive an interrupt.

        Raises:
            ProviderMissing: a compiler is not installed.
            UsageError: the Dask scheduler cannot be reached.
        """
        self._make_providers(each.configuration.provider for each in dispatches)
        stages = make_stages(self.settings, self.providers, self._show, self._warn)
        return Sweep(stages, self.providers, self._report)

    def run(self, dispatches: Sequence[Dispatch]) -> list[Row]:
        """Compile, verify, profile and bisect dispatches, as the settings say.

        Returns:
            A row for each dispatch, in their order, whatever happened to it.

        Raises:
            ActiondbgError: a compiler is not installed, or the Dask scheduler cannot be reached.
            OSError: a file cannot be written.
        """
        return self.sweep(dispatches).run(dispatches)

    def _make_providers(self, names: Iterable[str]) -> None:
        for name in names:
            if name not in self.providers:
                self.providers[name] = make_provider(name, self._provider_settings)
