"""What the agent knows of MLIR's builds is proved before it is used.

An agent that knows something false is compiled here: it has to notice that in a fork, and the tool
has to live.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

import actiondbg
from actiondbg.tool.shipped import AGENT_SOURCE
from tests.conftest import PYPI
from tests.fakes.other_agent import use_agent_of

# A function of MLIR, which the printer calls, crashes in forks.
CRASHING = """\
#define _GNU_SOURCE
#include <dlfcn.h>
#include <unistd.h>
static pid_t tool;
__attribute__((constructor)) static void note(void) { tool = getpid(); }
#define NAME "_ZNK4mlir11IntegerType8getWidthEv"
unsigned widthOf(const void *) __asm__(NAME);
unsigned widthOf(const void *type) {
  static unsigned (*next)(const void *);
  if (!next)
    next = (unsigned (*)(const void *))dlsym(RTLD_NEXT, NAME);
  if (getpid() != tool)
    *(volatile int *)0 = 0;
  return next(type);
}
"""
# A file below portable/, what is in it, what replaces it, and what is missing then.
FACTS: dict[str, tuple[str, str, str, set[str]]] = {
    "stream": (
        "standins/include/llvm/Support/raw_ostream.h",
        "  virtual ~raw_ostream();\n",
        "  virtual void other() {}\n  virtual ~raw_ostream();\n",
        {"print"},
    ),
    "printer": (
        "layout/ToolFunctions.h",
        "_ZN4mlir9Operation5printERN4llvm11raw_ostreamERKNS_15",
        "_ZNK4mlir5Value5printERN4llvm11raw_ostreamERKNS_15",
        {"print"},
    ),
    "map": (
        "layout/ToolMap.h",
        "  uint64_t words[4] = {};",
        "  uint64_t words[4] = {64, 64, 64};",
        set(),
    ),
    "location": (
        "layout/ToolFunctions.h",
        "_ZNK4mlir14FileLineColLoc7getLineEv",
        "_ZNK4mlir14FileLineColLoc9getColumnEv",
        {"location"},
    ),
    "values": ("layout/Layout.cpp", "{{24, 0, 16, 32, 48}", "{{24, 0, 16, 32, 40}", {"values"}),
    "regions": ("layout/Layout.cpp", "{{24, 0, 16, 32, 48}", "{{24, 0, 8, 32, 48}", {"cursor"}),
    "pass": (
        "standins/include/mlir/Pass/Pass.h",
        "  virtual StringRef getArgument() const = 0;\n",
        "  virtual void other() = 0;\n  virtual StringRef getArgument() const = 0;\n",
        set(),
    ),
    "pattern": (
        "standins/include/mlir/IR/PatternMatch.h",
        "  SmallVector<OperationName, 2> generatedOps;\n  StringRef debugName;\n",
        "  StringRef debugName;\n  SmallVector<OperationName, 2> generatedOps;\n",
        set(),
    ),
    "listener": (
        "interpose/ReasonListener.cpp",
        "patternBegin = 9, matchFailure = 11",
        "patternBegin = 8, matchFailure = 10",
        # Told by a function of the tool that is not exported everywhere.
        set(),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("fact", FACTS)
def test_what_is_false_is_not_used(
    fact: str, folds: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, true, false, missing = FACTS[fact]
    source = tmp_path / "agent"
    shutil.copytree(AGENT_SOURCE, source, ignore=shutil.ignore_patterns("built"))
    changed = source / name
    text = changed.read_text()
    assert text.count(true) == 1
    changed.write_text(text.replace(true, false))

    use_agent_of(source, tmp_path, monkeypatch)
    argv = [str(PYPI / "mlir-opt"), folds, "--canonicalize", "--cse"]
    alone = subprocess.run(argv, capture_output=True, text=True, check=True).stdout
    with actiondbg.launch(argv) as session:
        session.breakpoints.add("pattern:*")
        session.breakpoints.add("pass:cse")
        stop = session.run()
        lost: dict[str, str] = {}
        while stop.status is None:
            if session.target.hello is not None:
                lost = session.target.hello.missing
            stop = session.continue_()
        assert stop.status == 0
        assert session.target.output() == alone
    assert missing <= lost.keys()


def test_the_place_of_a_crash_is_named(
    folds: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "crashing.c").write_text(CRASHING)
    library = tmp_path / "crashing.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, tmp_path / "crashing.c"], check=True)
    monkeypatch.setenv("LD_PRELOAD", str(library))
    argv = [str(PYPI / "mlir-opt"), folds, "--canonicalize"]
    alone = subprocess.run(argv, capture_output=True, text=True, check=True).stdout
    with actiondbg.launch(argv) as session:
        session.breakpoints.add("pattern:*")
        session.run()
        hello = session.target.hello
        assert hello is not None
        why = "it crashed when it was tried in a fork: Segmentation fault at crashing.so+0x"
        assert why in hello.missing["print"]
        checks = {one.name: one.why for one in session.target.facts().checks}
        assert checks["printing"].startswith(why) and not checks["regions"]
        session.breakpoints.delete([each.id for each in session.breakpoints.all()])
        assert session.continue_().status == 0
        assert session.target.output() == alone
