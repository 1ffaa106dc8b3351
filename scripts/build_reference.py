"""Build the API reference with pdoc; a warning is an error."""

from __future__ import annotations

import sys
import warnings
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pdoc
import pdoc.render

# The packages and modules of the Python API. A package with `__all__` hides its modules.
PACKAGES = (
    "actiondbg",
    "actiondbg.session",
    "actiondbg.breakpoints",
    "actiondbg.process",
    "actiondbg.protocol",
    "actiondbg.analysis",
    "actiondbg.ir",
    "actiondbg.bisection",
    "actiondbg.recording",
    "actiondbg.recording.capture",
    "actiondbg.recording.query",
    "actiondbg.recording.recording",
    "actiondbg.recording.session",
    "actiondbg.kernels",
    "actiondbg.kernels.model",
    "actiondbg.kernels.operations",
    "actiondbg.kernels.problems",
    "actiondbg.kernels.providers.provider",
    "actiondbg.kernels.providers.registry",
    "actiondbg.kernels.providers.steps",
    "actiondbg.kernels.execution.kernel",
    "actiondbg.kernels.execution.kernel_process",
    "actiondbg.kernels.verification",
    "actiondbg.kernels.results",
    "actiondbg.kernels.sweep",
    "actiondbg.kernels.bisection",
    "actiondbg.kernels.search",
    "actiondbg.kernels.counting",
)


def main(directory: Path) -> int:
    """Write the pages; return the exit status."""
    warnings.simplefilter("error")
    # pdoc evaluates the annotations of a NamedTuple outside its module, so it prints their text.
    warnings.filterwarnings("ignore", message=r"Error parsing type annotation ForwardRef\(")
    for name in PACKAGES:
        _resolve_lazy_names(import_module(name))
    pdoc.render.configure(docformat="google", show_source=False, footer_text="actiondbg")
    try:
        pdoc.pdoc(*PACKAGES, output_directory=directory)
    except Warning as warning:
        print(f"scripts/docs: {warning}", file=sys.stderr)
        return 1
    print(f"The API reference: {directory / 'index.html'}")
    return 0


def _resolve_lazy_names(package: ModuleType) -> None:
    """Import the names that a package imports on first use, where pdoc does not look for them."""
    for name in getattr(package, "__all__", ()):
        setattr(package, name, getattr(package, name))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
