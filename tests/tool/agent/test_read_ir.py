"""The agent reads IR without MLIR's headers as it does with them."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from actiondbg.tool import Tool, find_tool
from actiondbg.tool.agent_compilation import include_flags
from actiondbg.tool.compiler import FLAGS, find_compiler
from tests.conftest import DEBIAN, PYPI
from tests.headers import header_flags
from tests.paths import GOLDEN, INPUTS, ROOT

AGENT = ROOT / "actiondbg/agent"
STAND_INS = AGENT / "standins"
SHARED = ("print/ValueKeys", "observe/Identity", "support/Traits", "support/Locations")
OBJECTS = ("Instances", "LoadedObjects")
INPUT_FILES = [
    *sorted((GOLDEN / "inputs").glob("*.mlir")),
    INPUTS / "dialects/loops.mlir",
    INPUTS / "dialects/structures.mlir",
]
_TOOLS_NAME = re.compile(r'"_Z\w+"(?:\s*"\w+")*')


@pytest.fixture(scope="module", params=["pypi", "debian"])
def tool(request: pytest.FixtureRequest) -> Tool:
    path = (PYPI if request.param == "pypi" else DEBIAN) / "mlir-opt"
    if not path.exists():
        pytest.skip(f"mlir-opt of {request.param} is not installed")
    return find_tool(str(path))


def build(probe: Path, options: list[str], sources: list[Path]) -> Path:
    shared = [AGENT / f"{name}.cpp" for name in SHARED]
    command = [*find_compiler(), *FLAGS, "-O1", "-w", *options, "-shared", "-o", probe]
    files = [*shared, *sources, INPUTS / "ir_probe.cpp"]
    # As in the agent, one unit: some sources rely on what others include.
    unit = probe.with_suffix(".cpp")
    unit.write_text("".join(f'#include "{file}"\n' for file in files))
    subprocess.run([*command, unit, "-ldl"], check=True)
    return probe


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A probe that is compiled with the agent's stand-ins for MLIR's headers."""
    options = ["-Wl,-z,lazy", "-DPROBE_OWN", *include_flags()]
    sources = [
        *(AGENT / f"support/{name}.cpp" for name in ("AgentHeap", "Without", "Symbols")),
        AGENT / "fork/QuietFork.cpp",
        *(AGENT / f"detour/{name}.cpp" for name in OBJECTS),
        *(AGENT / f"layout/{name}.cpp" for name in ("Proof", "Layout")),
        *sorted(STAND_INS.rglob("*.cpp")),
    ]
    return build(tmp_path_factory.mktemp("probe") / "own.so", options, sources)


@pytest.fixture(scope="module")
def real(tool: Tool, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A probe that is compiled with the tool's headers."""
    includes = ["mlir/IR/BuiltinAttributes.h", "support/LLVM.h"]
    options = [f"-iquote{AGENT}", *(f"-include{file}" for file in includes)]
    return build(tmp_path_factory.mktemp("probe") / "real.so", options + header_flags(tool), [])


def probed(tool: Tool, probe: Path, source: Path, action: int, to: Path) -> list[str]:
    to.write_text("")
    environment = {
        "PATH": os.environ["PATH"],
        "LD_PRELOAD": str(probe),
        "PROBE_FILE": str(to),
        "PROBE_ACTION": str(action),
    }
    options = ["--canonicalize", "--allow-unregistered-dialect", "--log-actions-to=/dev/null"]
    command = [tool.path, source, *options, "-o", "/dev/null"]
    subprocess.run(command, env=environment, check=False, capture_output=True)
    return to.read_text().splitlines()


def test_ir_is_read_alike(tool: Tool, real: Path, own: Path, tmp_path: Path) -> None:
    read = 0
    for source in INPUT_FILES:
        for action in (0, 40):
            expected = probed(tool, real, source, action, tmp_path / "ir")
            found = probed(tool, own, source, action, tmp_path / "ir")
            differences = [pair for pair in zip(expected, found, strict=False) if len({*pair}) > 1]
            assert (source, differences[:5], len(found)) == (source, [], len(expected))
            read += len(found)
    assert read > 5000


def test_the_tools_functions_are_not_defined_by_the_stand_ins(own: Path) -> None:
    """A member that is not inlined would be called in the place of the tool's."""
    names = {
        re.sub(r'["\s]', "", literal)
        for literal in _TOOLS_NAME.findall((AGENT / "layout/ToolFunctions.h").read_text())
    }
    assert len(names) > 40
    listed = subprocess.run(["nm", own], check=True, capture_output=True, text=True).stdout
    kinds = {line.split()[-1]: line.split()[-2] for line in listed.splitlines()}
    assert {name: kinds[name] for name in names if kinds.get(name, "w") not in "wv"} == {}
    assert len(names & {*kinds}) > 20
