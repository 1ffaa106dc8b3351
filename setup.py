"""Compiles the agent into the package; everything else is in pyproject.toml."""

import sys
from pathlib import Path
from typing import ClassVar

from setuptools import Command, Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build import build

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT))

from actiondbg.errors import ActiondbgError  # noqa: E402
from actiondbg.tool.package_build import build_shipped  # noqa: E402
from actiondbg.tool.shipped import SHIPPED  # noqa: E402


class BuildAgent(Command):
    """Compiles what is shipped: into the wheel, or beside its sources for an editable install."""

    description = "compile the agent"
    user_options: ClassVar[list[tuple[str, str, str]]] = []
    build_lib = ""
    plat_name = ""
    editable_mode = False

    def initialize_options(self) -> None:
        self.build_lib = self.plat_name = None

    def finalize_options(self) -> None:
        self.set_undefined_options("build", ("build_lib", "build_lib"), ("plat_name", "plat_name"))

    def run(self) -> None:
        shipped = SHIPPED
        if not self.editable_mode:
            shipped = Path(self.build_lib) / shipped.relative_to(ROOT)
        machine = "aarch64" if self.plat_name.endswith("aarch64") else "x86_64"
        try:
            build_shipped(shipped, machine)
        except ActiondbgError as error:
            raise SystemExit(f"error: {error}") from error

    def get_source_files(self) -> list[str]:
        return []

    def get_outputs(self) -> list[str]:
        shipped = Path(self.build_lib) / SHIPPED.relative_to(ROOT)
        return [] if self.editable_mode else [str(file) for file in shipped.iterdir()]

    def get_output_mapping(self) -> dict[str, str]:
        return {}


class PlatformDistribution(Distribution):
    """A package with compiled files, although none is a module of Python."""

    def has_ext_modules(self) -> bool:
        return True


class PlatformWheel(bdist_wheel):
    """A wheel for one platform and every Python."""

    def get_tag(self) -> tuple[str, str, str]:
        return "py3", "none", super().get_tag()[2]


build.sub_commands = [*build.sub_commands, ("build_agent", None)]
setup(
    cmdclass={"build_agent": BuildAgent, "bdist_wheel": PlatformWheel},
    distclass=PlatformDistribution,
)
