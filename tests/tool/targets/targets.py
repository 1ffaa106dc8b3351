"""The compilers that tests run, and where scripts/setup-tools installs them."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.paths import ROOT

TOOLS = ROOT / ".venv-tools"
_PACKAGES = Path("lib") / f"python3.{sys.version_info.minor}" / "site-packages"


@dataclass(frozen=True)
class Target:
    """A compiler and the words by which RUN lines call its programs.

    Args:
        name: its name for scripts/setup-tools, or the build of the package's mlir-opt.
        inputs: the folder of its inputs, in tests/inputs/tools.
        programs: where each program is.
        environment: the variables with which its programs are run.
        always: whether scripts/test runs all its tests, and not only with ``--tools``.
        options: what each RUN line ends with.
    """

    name: str
    inputs: str
    programs: dict[str, Path]
    environment: dict[str, str] = field(default_factory=dict[str, str])
    always: bool = True
    options: tuple[str, ...] = ()

    @property
    def missing(self) -> str | None:
        """Why its tests are skipped; None if all programs are there."""
        if all(path.exists() for path in self.programs.values()):
            return None
        return f"{self.name} is not installed (scripts/setup-tools {self.name})"

    @property
    def marks(self) -> list[pytest.MarkDecorator]:
        """The marks of its tests."""
        skipped = pytest.mark.skipif(self.missing is not None, reason=self.missing or "")
        return [skipped] if self.always else [skipped, pytest.mark.all_tools]

    def env(self) -> dict[str, str]:
        """Return the environment of a run."""
        return {**os.environ, **self.environment}


def _python(name: str) -> dict[str, Path]:
    return {"python": TOOLS / name / "bin" / "python"}


def _binaries(name: str, folder: str, *programs: str) -> dict[str, Path]:
    return {program: TOOLS / name / _PACKAGES / folder / program for program in programs}


TARGETS = {
    target.name: target
    for target in (
        Target(
            "mlir-opt", "mlir", {"mlir-opt": Path(sys.prefix) / _PACKAGES / "mlir/bin/mlir-opt"}
        ),
        Target(
            "debian19",
            "mlir",
            {"mlir-opt": TOOLS / "debian19/usr/lib/llvm-19/bin/mlir-opt"},
            always=False,
        ),
        Target(
            "iree",
            "iree",
            _binaries("iree", "iree/compiler/_mlir_libs", "iree-opt", "iree-compile"),
        ),
        Target(
            "triton",
            "triton",
            _python("triton"),
            # The cache is in the working directory, which is a new one for each run.
            {"TRITON_CACHE_DIR": "cache", "TRITON_DEFAULT_FP_FUSION": "1"},
        ),
        Target(
            "jax",
            "jax",
            _python("jax"),
            {"JAX_PLATFORMS": "cpu", "XLA_FLAGS": "--xla_dump_to=dump"},
            always=False,
        ),
        Target(
            "torch-mlir",
            "torch",
            _binaries("torch-mlir", "torch_mlir/_mlir_libs", "torch-mlir-opt"),
            always=False,
        ),
        Target(
            "catalyst",
            "mlir",
            dict.fromkeys(("catalyst", "mlir-opt"), TOOLS / "catalyst/bin/catalyst"),
            options=("--tool=opt",),
            always=False,
        ),
    )
}
