"""An MLIR whose objects are laid out in no way that the agent knows.

The agent copies pages of IR through the kernel until the layout is confirmed. A preloaded function
stands in front of that, and replaces parts of them.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

import actiondbg
from actiondbg.errors import CapabilityMissing
from actiondbg.protocol.capabilities import missing_reason
from tests.conftest import PYPI

OTHER_MEMORY = """\
#define _GNU_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>
static ssize_t copy(const struct iovec *to, const struct iovec *from) {
  return syscall(SYS_process_vm_readv, getpid(), to, 1, from, 1, 0);
}
static uintptr_t at(uintptr_t address) {
  uintptr_t word = 0;
  struct iovec to = {&word, sizeof(word)}, from = {(void *)address, sizeof(word)};
  copy(&to, &from);
  return word;
}
// A node of a list: the previous one names it as the next.
static int is_node(uintptr_t address) { return at(at(address) + 8) == address; }
// An operand that is the first use of its value.
static int is_use(uintptr_t address) {
  return at(at(address + 8)) == address && at(at(address + 24)) == address;
}
ssize_t process_vm_readv(pid_t pid, const struct iovec *to, unsigned long many,
                         const struct iovec *from, unsigned long others, unsigned long flags) {
  ssize_t got = copy(to, from);
  const char *part = getenv("OTHER_PART");
  uintptr_t begin = (uintptr_t)from->iov_base;
  uintptr_t *words = to->iov_base;
  for (ssize_t i = 0; got == 4096 && i < got / 8; ++i)
    if (!strcmp(part, "all") || (!strcmp(part, "lists") && is_node(begin + 8 * i)) ||
        (!strcmp(part, "owners") && i > 1 && is_use(begin + 8 * (i - 2))))
      words[i] = (uintptr_t)0xabababababababab;
  // A table of virtual functions: two functions change places.
  if (!strcmp(part, "tables") && got > 16 * 8 && got < 4096) {
    uintptr_t other = words[2 + 1];
    words[2 + 1] = words[2 + 9];
    words[2 + 9] = other;
  }
  return got;
}
"""
UNKNOWN = "the layout of this MLIR is not known: "
# What is replaced, what is missing, and the check that fails.
PARTS = [
    (
        "all",
        {
            *("location", "cursor", "changes", "folds", "values", "lineage"),
            *("alternatives", "edit", "legalizations"),
        },
        "the name of an operation was not found",
    ),
    (
        "lists",
        {"cursor", "edit", "values", "lineage"},
        "regions and blocks do not have a known layout",
    ),
    ("owners", {"edit", "values"}, "an operand does not name its operation"),
]


@pytest.fixture
def other_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    (tmp_path / "other.c").write_text(OTHER_MEMORY)
    library = tmp_path / "other.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, tmp_path / "other.c"], check=True)
    monkeypatch.setenv("LD_PRELOAD", str(library))
    monkeypatch.setenv("OTHER_PART", "")


@pytest.mark.parametrize(("part", "missing", "why"), PARTS)
def test_what_is_not_known_is_left_out(
    other_memory: None,
    mlir_opt: str,
    folds: str,
    monkeypatch: pytest.MonkeyPatch,
    part: str,
    missing: set[str],
    why: str,
) -> None:
    argv = [mlir_opt, folds, "--canonicalize"]
    alone = subprocess.run(argv, capture_output=True, text=True, check=True).stdout
    with actiondbg.launch(argv) as known:
        known.breakpoints.add("pattern:*")
        known.run()
        assert known.target.hello is not None
        complete = known.target.hello.capabilities
    monkeypatch.setenv("OTHER_PART", part)
    with actiondbg.launch(argv) as s:
        s.breakpoints.add("pattern:AddIAddConstant")
        stop = s.run()
        assert (stop.reason, stop.name) == ("breakpoint", "AddIAddConstant")
        hello = s.target.hello
        assert hello is not None
        assert complete - hello.capabilities == missing
        assert {missing_reason(hello, name) for name in missing} == {UNKNOWN + why}
        assert "func.func @" in s.ir.print("module").text
        if "cursor" in missing:
            with pytest.raises(CapabilityMissing, match=f"cannot move in the IR: {UNKNOWN}{why}"):
                s.cursor.parent()
        stop = s.next()
        assert stop.outcome is not None and stop.outcome.result in ("succeeded", "failed")
        s.breakpoints.delete([each.id for each in s.breakpoints.all()])
        assert s.continue_().status == 0
        assert s.target.output() == alone


def test_reasons_of_unknown_listeners_are_missing_as_soon_as_that_is_seen(
    other_memory: None, folds: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    argv = [str(PYPI / "mlir-opt"), folds, "--canonicalize"]  # exports functions of listeners
    alone = subprocess.run(argv, capture_output=True, text=True, check=True).stdout
    monkeypatch.setenv("OTHER_PART", "tables")
    with actiondbg.launch(argv) as s:
        s.breakpoints.add("pattern:*")
        s.run()
        stop = s.next()
        assert s.target.hello is not None
        assert missing_reason(s.target.hello, "reasons") == (
            "the layout of this MLIR's rewriters is not known"
        )
        assert stop.outcome is not None and stop.outcome.unheard
        s.breakpoints.delete([each.id for each in s.breakpoints.all()])
        assert s.continue_().status == 0
        assert s.target.output() == alone
