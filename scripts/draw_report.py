"""Make docs/images/report.png, a screenshot of the report of a lowering with two threads.

Pillow, which reduces the colours, comes with matplotlib, the extra ``plot``.
"""

from __future__ import annotations

import io
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from actiondbg.recording import open_recording  # noqa: E402
from tests.fakes.chromium import Browser, find_chromium  # noqa: E402

PICTURE = ROOT / "docs" / "images" / "report.png"
COLORS = 256  # of a palette, for a small file
WIDTH, HEIGHT = 1240, 1640
COMMAND = str(Path(sys.executable).with_name("actiondbg"))
FUNCTIONS = 300
IN_FUNCTION = "canonicalize,cse,convert-scf-to-cf,canonicalize,convert-arith-to-llvm"
PASSES = (
    f"func.func({IN_FUNCTION}),expand-strided-metadata,finalize-memref-to-llvm,"
    "convert-func-to-llvm,convert-cf-to-llvm,reconcile-unrealized-casts"
)
PATTERN = "SimplifyPassThroughCondBranch"
FUNCTION = """\
func.func @f{number}(%m: memref<16x16xf32>, %s: f32) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  scf.for %i = %c0 to %c16 step %c1 {{
    scf.for %j = %c0 to %c16 step %c1 {{
      %x = memref.load %m[%i, %j] : memref<16x16xf32>
      %y = arith.mulf %x, %s : f32
      %z = arith.addf %y, %s : f32
      memref.store %z, %m[%i, %j] : memref<16x16xf32>
    }}
  }}
  return
}}
"""


def main() -> int:
    """Write the image; return the exit status."""
    chromium = find_chromium()
    if chromium is None:
        print("Chromium is missing: install it.", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory(prefix="actiondbg-") as directory:
        recording, page = Path(directory, "loops.adbrec"), Path(directory, "report.html")
        _record(Path(directory, "loops.mlir"), recording)
        words = [COMMAND, "report", "-q", "-o", page, recording.name]
        subprocess.run(words, check=True, cwd=directory)
        with Browser(chromium) as browser:
            browser.resize(width=WIDTH, height=HEIGHT)
            browser.open(page)
            browser.run(f"location.hash = 'action-{_selected(recording)}'")
            browser.run("document.getElementById('zoom-whole').click()")
            browser.run("new Promise(done => setTimeout(done, 500))")
            browser.run("scrollTo(0, 0)")
            picture = browser.screenshot(format="png")
    PICTURE.parent.mkdir(exist_ok=True)
    with Image.open(io.BytesIO(picture)) as image:
        image.convert("RGB").quantize(COLORS, Image.Quantize.MAXCOVERAGE).save(
            PICTURE, optimize=True
        )
    return 0


def _record(source: Path, recording: Path) -> None:
    source.write_text("".join(FUNCTION.format(number=number) for number in range(FUNCTIONS)))
    tool = ["mlir-opt", source.name, f"--pass-pipeline=builtin.module({PASSES})", "-o", "/dev/null"]
    words = [COMMAND, "record", "-q", "--ir", "function", "-o", recording.name, "--", *tool]
    subprocess.run(words, check=True, cwd=source.parent)


def _selected(recording: Path) -> int:
    """Return the ordinal of the first action of the pattern that changed the IR."""
    columns = ["ordinal", "name", "changed"]
    rows = open_recording(recording).table("actions", columns).to_pylist()
    return next(row["ordinal"] for row in rows if row["name"] == PATTERN and row["changed"])


if __name__ == "__main__":
    sys.exit(main())
