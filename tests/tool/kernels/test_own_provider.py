"""A provider of the user's, named by its class on the command line."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.fakes import command_line

MODULE = """
from actiondbg.kernels.model import Configuration
from actiondbg.kernels.providers.mlir.provider import MlirProvider

class Loops(MlirProvider):
    name = "loops"
    def default(self, operation):
        parameters = {"pipeline": "convert-linalg-to-affine-loops"}
        return Configuration("loops", "loops_affine", parameters)
    def configurations(self, operation):
        return [self.default(operation)]

class Foreign(Loops):
    name = "foreign"
    def __init__(self, settings):
        super().__init__()
        assert settings.device == "cpu"

nothing = 1
"""
SIZES = ["--operation-kind", "matmul", "--problem-m", "8", "--problem-n", "8", "--problem-k", "8"]


def kernels(folder: Path, command: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder with the module."""
    (folder / "mine.py").write_text(MODULE)
    return command_line.run("kernels", command, *words, cwd=folder)


def test_a_class_of_the_working_directory_compiles_kernels(tmp_path: Path) -> None:
    done = kernels(tmp_path, "run", *SIZES, "--provider", "mine:Loops,c", "--json")
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)["kernels"]
    assert {row["configuration"] for row in rows} == {"loops_affine", "c_loops"}
    again = kernels(tmp_path, "verify", "--provider", "mine:Loops", "--json")
    (row,) = json.loads(again.stdout)["kernels"]
    assert row["provider"] == "loops"
    assert "module:Class" in kernels(tmp_path, "verify").stderr


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("mine:Missing", "cannot be imported: module 'mine' has no attribute 'Missing'"),
        ("other:Loops", "cannot be imported: No module named 'other'"),
        ("mine:nothing", "is not a subclass of actiondbg's Provider"),
    ],
)
def test_what_is_no_provider_is_bad_usage(tmp_path: Path, name: str, message: str) -> None:
    done = kernels(tmp_path, "run", *SIZES, "--provider", name)
    assert done.returncode == 2
    assert message in done.stderr


def test_a_configuration_must_name_its_provider(tmp_path: Path) -> None:
    words = [*SIZES, "--provider", "mine:Foreign", "--budget", "3"]
    done = kernels(tmp_path, "search", *words)
    assert "The provider foreign made a configuration of the provider loops" in done.stderr
