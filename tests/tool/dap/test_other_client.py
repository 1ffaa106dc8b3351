"""A session by the client of @vscode/debugadapter-testsupport, which is not ours."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

from tests.conftest import PYPI
from tests.fakes.dap_client import SERVER
from tests.fakes.dap_packages import node
from tests.paths import ROOT
from tests.tool.dap.conftest import MLIR_OPT

_SCRIPT = ROOT / "tests" / "fakes" / "dap_session.cjs"


def test_a_session_of_vs_codes_own_client(fold: str, tmp_path: Path) -> None:
    executable, folder = node()
    argv = ["mlir-opt", fold, "--canonicalize"]
    configuration = {
        "tool": "mlir-opt",
        "args": argv[1:],
        "cwd": str(tmp_path),
        "env": {"PATH": f"{PYPI}:{os.environ['PATH']}"},
    }
    path = {**os.environ, "PATH": f"{PYPI}:{os.environ['PATH']}"}
    server = subprocess.Popen(
        [*SERVER, "--port", "0"], stdout=subprocess.PIPE, text=True, cwd=ROOT, env=path
    )
    try:
        assert server.stdout is not None
        port = re.search(r":(\d+)", server.stdout.readline())
        assert port is not None
        run = subprocess.run(
            [executable, _SCRIPT, port[1], json.dumps(configuration), "8"],
            env={**os.environ, "NODE_PATH": str(folder / "node_modules")},
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert run.returncode == 0, run.stderr
    finally:
        server.terminate()
        server.wait(60)
    seen = json.loads(run.stdout)
    plain = subprocess.run([MLIR_OPT, *argv[1:]], capture_output=True, text=True, check=True)
    assert seen["output"] == plain.stdout
    assert seen["frames"][0] == "#10 fold (arith.addi)"
    assert seen["scopes"] == ["Action", "Changes", "Operation"]
    assert {"action", "tag", "location"} <= set(seen["variables"]["Action"])
    assert [re.sub(r" at .*", "", each) for each in seen["stops"]] == [
        "Stopped after #10 fold (arith.addi) in @shift",
        "Stopped before #11 apply-pattern (AddIAddConstant) in @shift",
        "Stopped after #10 fold (arith.addi) in @shift",
        "Stopped before #10 fold (arith.addi) in @shift",
        "Stopped before #11 apply-pattern (AddIAddConstant) in @shift",
    ]
    assert "%twice = arith.addi %once, %three : i32" in seen["ir"]
