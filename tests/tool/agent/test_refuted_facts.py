"""What the agent knows of MLIR's builds is proved before it is used.

Agents that know something false are compiled here: they have to notice that in a fork, and the tool
has to live. What no check notices is switched off by the user.
"""

from __future__ import annotations

import shutil
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

import actiondbg
from actiondbg.errors import ActiondbgError
from actiondbg.recording.capture.recorder import record
from actiondbg.tool.shipped import AGENT_SOURCE
from tests.conftest import PYPI, locked
from tests.fakes import command_line
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
# Locations of all classes, attributes, patterns that say why they fail, and a lowering.
SOURCE = """\
#call = loc(callsite("callee"("a.mlir":3:4) at "b.mlir":5:6))
#fused = loc(fused<"meta">["a.mlir":1:2, "b.mlir":3:4, #call])
module @m attributes {k.z = 3 : i32, k.text = "text", k.d = {x = [1, 2], y = "s"}} {
  func.func @f(%a: i32 loc("arg"), %b: memref<4xi32> loc(#fused)) -> i32 attributes {k.n = @f} {
    %c0 = arith.constant 0 : i32 loc("zero"("c.mlir":7:8))
    %c1 = arith.constant 1 : i32 loc(#fused)
    %x = arith.addi %a, %c0 {tag = "x"} : i32 loc(#call)
    %y = arith.addi %x, %c1 : i32 loc(#fused)
    %z = arith.addi %y, %c1 : i32 loc(fused[#call, #fused])
    %i = arith.constant 0 : index
    memref.store %z, %b[%i] : memref<4xi32> loc(unknown)
    %same = arith.cmpi eq, %z, %z : i32
    %r = scf.if %same -> i32 {
      scf.yield %z : i32 loc("d.mlir":1:1)
    } else {
      scf.yield %a : i32
    } loc("if")
    return %r : i32
  }
}
"""
PIPELINES = [
    ["--canonicalize", "--cse", "--mlir-print-debuginfo"],
    ["--convert-scf-to-cf", "--convert-arith-to-llvm", "--mlir-print-debuginfo"],
]
# A file of the agent's sources, what is in it, and what replaces it.
Change = tuple[str, str, str]
_ATTRIBUTES = "standins/include/mlir/IR"
# Facts by their names in layout/Facts.h, or of a check, all of which are false in one agent.
TOGETHER: dict[str, Change] = {
    "dictionary": (
        "layout/Storage.h",
        "  const NamedStorage *begin;\n  size_t size;\n",
        "  size_t size;\n  const NamedStorage *begin;\n",
    ),
    "fused location": (
        "layout/Storage.h",
        "  const AttributeStorage *const *begin;\n  size_t size;\n",
        "  size_t size;\n  const AttributeStorage *const *begin;\n",
    ),
    "call site location": (
        "layout/Storage.h",
        "  const AttributeStorage *callee, *caller;\n",
        "  const void *other;\n  const AttributeStorage *callee, *caller;\n",
    ),
    "name location": (
        "layout/Storage.h",
        "  const StringStorage *name;\n  const AttributeStorage *child;\n",
        "  const AttributeStorage *child;\n  const StringStorage *name;\n",
    ),
    "file location": (
        "layout/ToolFunctions.h",
        "_ZNK4mlir14FileLineColLoc7getLineEv",
        "_ZNK4mlir14FileLineColLoc9getColumnEv",
    ),
    "lines": (
        f"{_ATTRIBUTES}/AsmState.h",
        "  uint64_t words[4] = {};",
        "  uint64_t words[4] = {64, 64, 64};",
    ),
    "pass of an action": (
        "standins/include/mlir/Pass/Pass.h",
        "private:\n  const Pass &pass;\n",
        "private:\n  void *other;\n  const Pass &pass;\n",
    ),
    "pattern of an action": (
        f"{_ATTRIBUTES}/PatternMatch.h",
        "  const Pattern &pattern;\n",
        "  void *other;\n  const Pattern &pattern;\n",
    ),
    "diagnostic of the agent": (
        f"{_ATTRIBUTES}/Diagnostics.h",
        "  DiagnosticSeverity severity;\n  SmallVector",
        "  DiagnosticSeverity severity;\n  void *other = nullptr;\n  SmallVector",
    ),
    "values": ("layout/Layout.cpp", "{{24, 0, 16, 32, 48}", "{{24, 0, 16, 32, 40}"),
}
# The same, which have no check of their own, and what is missing without them.
FACTS: dict[str, tuple[str, str, str, set[str]]] = {
    "string": (
        "layout/Storage.h",
        "  const void *type;\n  StringRef value;\n",
        "  StringRef value;\n  const void *type;\n",
        set(),
    ),
    "action": (
        f"{_ATTRIBUTES}/Action.h",
        "  virtual StringRef getTag() const = 0;\n",
        "  virtual void other() const = 0;\n  virtual StringRef getTag() const = 0;\n",
        set(),
    ),
    "parent": (
        "layout/ToolFunctions.h",
        "_ZN4mlir5Block11getParentOpEv",
        "_ZN4mlir5Block13getTerminatorEv",
        {"cursor"},
    ),
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
        "interpose/ActionHandler.cpp",
        "patternBegin = 9, matchFailure = 11",
        "patternBegin = 8, matchFailure = 10",
        # Told by a function of the tool that is not exported everywhere.
        set(),
    ),
}

# Those that are false in one agent: none keeps another from being used.
GROUPS = (
    ("parent", "stream", "string", "pass"),
    ("printer", "regions", "pattern", "listener"),
    ("action",),
)
# A capability, and a function of the tool that the agent replaces for it.
HOOKS = {
    "changes": "_ZN4llvm12ilist_traitsIN4mlir9OperationEE13addNodeToListEPS2_",
    "folds": "_ZN4mlir9Operation4foldERN4llvm15SmallVectorImplINS_12OpFoldResultEEE",
    "catch": "_ZN4mlir6verifyEPNS_9OperationEb",
    "outcomes": "_ZN4mlir17PatternApplicator15matchAndRewrite",
    "threads-off": "_ZN4mlir11MLIRContext21disableMultithreadingEb",
}
# In one agent with TOGETHER, which keeps none of these from being replaced.
PLANTED = """\
  static Result call(Operands... operands) {
    const char *crash = getenv("CRASH_IN");
    if (crash && strncmp(hook.symbol, crash, strlen(crash)) == 0)
      abort();
"""
REPLACED: list[Change] = [
    ("detour/Hooks.h", "  static Result call(Operands... operands) {\n", PLANTED),
    ("detour/Hooks.h", "#pragma once\n", "#pragma once\n#include <cstdlib>\n#include <cstring>\n"),
]


def _compile(changes: list[Change], directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = directory / "agent"
    shutil.copytree(AGENT_SOURCE, source, ignore=shutil.ignore_patterns("built"))
    for name, true, false in changes:
        changed = source / name
        text = changed.read_text()
        assert text.count(true) == 1
        changed.write_text(text.replace(true, false))
    use_agent_of(source, directory, monkeypatch)


@pytest.fixture
def many_false_facts(
    shared_directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Use an agent with TOGETHER and REPLACED, which is compiled once for all tests."""
    directory = shared_directory / "many-false-facts"
    agent = directory / "agent.so"
    with locked(directory.with_suffix(".lock")):
        if not agent.exists():
            shutil.rmtree(directory, ignore_errors=True)  # of a compilation that failed
            directory.mkdir()
            _compile([*TOGETHER.values(), *REPLACED], directory, monkeypatch)
    monkeypatch.setenv("ACTIONDBG_AGENT", str(agent))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def _ask(session: actiondbg.Session) -> None:
    """Ask all that reads IR; a refusal is good."""
    for question in (
        lambda: session.ir.print("module", locations=True),
        lambda: session.ir.print("action"),
        session.ir.excerpt,
        session.stack.frames,
        session.stack.action,
        session.stack.context,
        session.cursor.get,
        lambda: session.ir.count("arith.*"),
    ):
        with suppress(ActiondbgError):
            question()


def _debug(argv: list[str]) -> tuple[dict[str, str], set[str]]:
    """Debug a tool, and expect its own output; return what is missing, and what was refuted."""
    alone = subprocess.run(argv, capture_output=True, text=True, check=True).stdout
    missing: dict[str, str] = {}
    refuted: set[str] = set()
    with actiondbg.launch(argv) as session:
        session.breakpoints.add("pattern:*")
        session.breakpoints.add("pass:*")
        session.breakpoints.add("loc:*b.mlir*")
        session.breakpoints.catch("diagnostic")
        stop = session.run()
        asked = 0
        while stop.status is None:
            if session.target.hello is not None:
                missing = session.target.hello.missing
                refuted = {one.name for one in session.target.facts().checks if not one.passed}
            if (asked := asked + 1) < 5:
                _ask(session)
            stop = session.continue_()
        assert stop.status == 0
        assert session.target.output() == alone
    return missing, refuted


@pytest.mark.slow
@pytest.mark.parametrize("group", GROUPS, ids="-".join)
def test_what_is_false_is_not_used(
    group: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    facts = [FACTS[name] for name in group]
    _compile([fact[:3] for fact in facts], tmp_path, monkeypatch)
    expected = set[str]().union(*(fact[3] for fact in facts))
    source = tmp_path / "in.mlir"
    source.write_text(SOURCE)
    for pipeline in PIPELINES:
        missing, _ = _debug([str(PYPI / "mlir-opt"), str(source), *pipeline])
        assert expected <= missing.keys()


def test_each_fact_is_in_one_group() -> None:
    assert sorted(name for group in GROUPS for name in group) == sorted(FACTS)


@pytest.mark.slow
@pytest.mark.usefixtures("many_false_facts")
def test_each_false_fact_is_refuted_by_name(tmp_path: Path) -> None:
    source = tmp_path / "in.mlir"
    source.write_text(SOURCE)
    refuted: set[str] = set()
    for pipeline in PIPELINES:
        argv = [str(PYPI / "mlir-opt"), str(source), *pipeline]
        missing, found = _debug(argv)
        assert "values" in missing
        refuted |= found
        recorded = command_line.run(
            "record", "--ir", "function", "-o", tmp_path / "r.adbrec", "--", *argv
        )
        alone = subprocess.run(argv, capture_output=True, text=True, check=True)
        assert (recorded.returncode, recorded.stdout) == (0, alone.stdout)
    # Dictionaries are read for recordings.
    assert TOGETHER.keys() - {"dictionary"} <= refuted


@pytest.mark.slow
@pytest.mark.usefixtures("many_false_facts")
def test_a_function_that_crashes_the_tool_is_left_alone(
    folds: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The agent's replacements crash, which no check has noticed."""
    passes = ["--canonicalize", "--cse", "--mlir-disable-threading"]
    tool = [str(PYPI / "mlir-opt"), folds, *passes]
    alone = subprocess.run(tool, capture_output=True, text=True, check=True).stdout
    out = tmp_path / "out.mlir"
    for name, symbol in HOOKS.items():
        monkeypatch.setenv("CRASH_IN", symbol)
        assert record(tool, tmp_path / "run.adbrec", stdout=out).status == -6, name
        done = record(tool, tmp_path / "run.adbrec", stdout=out, without=[name])
        assert (done.status, out.read_text()) == (0, alone), name


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
