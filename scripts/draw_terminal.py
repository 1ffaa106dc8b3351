"""Make docs/images/stop-*.png, pictures of a terminal with stops in a fusion of a network.

Rich draws what the shell wrote, and Chromium makes a picture of it.
"""

from __future__ import annotations

import io
import lzma
import os
import re
import sys
import tempfile
from pathlib import Path

import pexpect
from PIL import Image
from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.fakes.chromium import Browser, find_chromium  # noqa: E402
from tests.terminal.terminal import READY  # noqa: E402

IMAGES = ROOT / "docs" / "images"
INPUT = ROOT / "tests" / "inputs" / "gpt6_fwd.linalg.mlir.xz"
TOOL = ["mlir-opt", "gpt6_fwd.mlir", "--linalg-fuse-elementwise-ops", "--canonicalize"]
COLORS = 64  # of a palette, for a small file
ROWS = 44
COMMANDS = ("break pattern:*FuseElementwiseOps", "run", "continue 4", "step")
_DROPPED = re.compile(r"\x1b\[\?[0-9;]*[a-z]|\x1b\[[0-9]*[A-DJKG]|\x1b[=>78]|\r")


def typed(width: int, directory: Path) -> str:
    """Return what the terminal shows of a session, with its colours."""
    environment = {
        **os.environ,
        "HOME": str(directory),
        "XDG_CACHE_HOME": os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache"),
        "TERM": "xterm-256color",
        "PAGER": "cat",
        "PROMPT_TOOLKIT_NO_CPR": "1",
    }
    child: pexpect.spawn[str] = pexpect.spawn(
        sys.executable,
        ["-m", "actiondbg", "-nx", *TOOL],
        cwd=str(directory),
        env=environment,  # pyright: ignore[reportArgumentType]
        dimensions=(ROWS, width),
        encoding="utf-8",
        timeout=120,
    )
    child.expect(READY)
    shown: list[str] = []
    for command in COMMANDS:
        child.send(command + "\r")
        child.expect(r"\x1b\[\?2004l")  # the line was taken
        child.expect(READY)
        reply = _DROPPED.sub("", child.before or "").strip("\n")
        shown += (f"(actiondbg) {command}", reply)
    child.close(force=True)
    return "\n".join(shown) + "\n"


def draw(text: str, width: int, picture: Path) -> None:
    """Draw text with escape sequences into a picture."""
    console = Console(record=True, width=width, file=io.StringIO(), force_terminal=True)
    console.print(Text.from_ansi(text), soft_wrap=True)
    page = console.export_html(inline_styles=True)
    style = "<style>body{margin:12px;background:#fff} pre{font-size:13px;line-height:1.25}</style>"
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "page.html")
        file.write_text(page.replace("</head>", f"{style}</head>"), encoding="utf-8")
        with Browser(find_chromium() or sys.exit("There is no Chromium on PATH.")) as browser:
            browser.resize(width=24 + int(width * 7.9), height=24 + 17 * (text.count("\n") + 1))
            browser.open(file)
            data = browser.screenshot()
    image = Image.open(io.BytesIO(data)).convert("RGB").quantize(COLORS)
    image.save(picture, optimize=True)


def main() -> int:
    """Draw the pictures."""
    for width in (80, 140):
        with tempfile.TemporaryDirectory() as folder:
            with lzma.open(INPUT) as source:
                Path(folder, "gpt6_fwd.mlir").write_bytes(source.read())
            draw(typed(width, Path(folder)), width, IMAGES / f"stop-{width}.png")
    return 0


if __name__ == "__main__":
    sys.exit(main())
