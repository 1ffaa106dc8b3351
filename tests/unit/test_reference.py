"""The documentation is built as a site, with the API reference, without a warning."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

from tests.elements import some
from tests.paths import ROOT


def _site(sources: Path, target: Path) -> subprocess.CompletedProcess[str]:
    """Build the pages, as scripts/docs does."""
    script = (ROOT / "scripts/docs").read_text()
    command = re.search(r"(?m)^\S*sphinx-build (.*) \. \"\$target\"$", script)
    assert command is not None
    argv = [sys.executable, "-m", "sphinx", *command[1].split(), ".", str(target)]
    return subprocess.run(argv, capture_output=True, text=True, cwd=sources)


def test_the_site_has_every_page(tmp_path: Path) -> None:
    run = _site(ROOT, tmp_path)
    assert (run.returncode, run.stderr) == (0, "")
    index = (tmp_path / "docs/index.html").read_text()
    docs = ROOT / "docs"
    pages = [str(page.relative_to(docs).with_suffix("")) for page in docs.glob("**/*.md")]
    pages.remove("index")
    for page in some(pages):
        assert (tmp_path / f"docs/{page}.html").is_file()
        assert f'class="toctree-l1"><a class="reference internal" href="{page}.html"' in index


def test_a_dead_link_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    for name in ("conf.py", "tour.md"):
        shutil.copy(ROOT / "docs" / name, tmp_path / "docs")
    page = tmp_path / "docs/index.md"
    row = "# Documentation\n\n## Start\n\n| page |\n|---|\n| [tour](tour.md) |\n"
    page.write_text(f"{row}\nSee [a page](nowhere.md) and [a part](tour.md#no-such-part).\n")
    run = _site(tmp_path, tmp_path / "site")
    assert run.returncode == 1
    assert "nowhere.md" in run.stderr
    assert "no-such-part" in run.stderr


def test_the_reference_documents_the_session_and_its_errors(tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, ROOT / "scripts/build_reference.py", tmp_path],
        capture_output=True,
        text=True,
    )
    assert (run.returncode, run.stderr) == (0, "")
    assert 'id="Session.next_change"' in (tmp_path / "actiondbg.html").read_text()
    assert 'id="NotRecorded"' in (tmp_path / "actiondbg/errors.html").read_text()
    assert (tmp_path / "actiondbg/recording/query/database.html").is_file()
