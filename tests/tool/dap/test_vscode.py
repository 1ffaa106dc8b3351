"""The extension of VS Code compiles, and is packed."""

from __future__ import annotations

import json
import subprocess
import zipfile
from pathlib import Path

from tests.fakes.dap_packages import node
from tests.paths import ROOT


def test_the_extension_is_packed(tmp_path: Path) -> None:
    node()  # skips without npm's packages
    target = tmp_path / "actiondbg.vsix"
    done = subprocess.run(
        [ROOT / "scripts" / "package-vscode", target], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    with zipfile.ZipFile(target) as archive:
        names = set(archive.namelist())
        manifest = json.loads(archive.read("extension/package.json"))
    assert f"extension/{manifest['main'].removeprefix('./')}" in names
    sources = {file.stem for file in (ROOT / "editors" / "vscode" / "src").glob("*.ts")}
    assert {f"extension/out/{name}.js" for name in sources} <= names
    assert not any("node_modules" in name or name.endswith(".ts") for name in names)
