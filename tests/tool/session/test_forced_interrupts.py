"""A stop inside an action, where the tool may hold a lock: nothing that it asks can hang the tool.

A preloaded function of MLIR, which folds and the printer call, takes a lock and keeps it for as
long as a file exists.
"""

from __future__ import annotations

import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

import actiondbg
from actiondbg.errors import AgentError
from tests.conftest import PYPI
from tests.fakes.interrupts import stop_inside

HOLDING = """\
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>
#define NAME "_ZNK4mlir11IntegerType8getWidthEv"
static volatile int isLocked;
unsigned widthOf(const void *) __asm__(NAME);
unsigned widthOf(const void *type) {
  static unsigned (*next)(const void *);
  if (!next)
    next = (unsigned (*)(const void *))dlsym(RTLD_NEXT, NAME);
  while (isLocked)
    ON_LOCKED;
  if (!access(getenv("HOLD"), F_OK)) {
    isLocked = 1;
    for (volatile long i = 0; i < 10000000000; ++i)
      if (i % 1000000 == 0 && access(getenv("HOLD"), F_OK))
        break;
    isLocked = 0;
  }
  return next(type);
}
"""


@contextmanager
def _interrupted_inside(
    folds: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, on_locked: str
) -> Generator[actiondbg.Session]:
    """Yield a session at a stop while the tool holds its lock, and expect the bare output."""
    source, library, hold = tmp_path / "hold.c", tmp_path / "hold.so", tmp_path / "hold"
    source.write_text(HOLDING.replace("ON_LOCKED", on_locked))
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    monkeypatch.setenv("LD_PRELOAD", str(library))
    monkeypatch.setenv("HOLD", str(hold))
    argv = [str(PYPI / "mlir-opt"), folds, "--canonicalize", "--cse"]
    alone = subprocess.run(argv, capture_output=True, text=True, check=True).stdout
    with actiondbg.launch(argv) as session:
        session.breakpoints.add("pass:canonicalize")
        session.run()
        hold.touch()
        stop = stop_inside(session)
        assert (stop.when, stop.reason) == ("during", "interrupt")
        yield session
        hold.unlink()
        stop = session.continue_()
        while stop.status is None:
            stop = session.continue_()
        assert stop.status == 0
        assert session.target.output() == alone


@pytest.mark.slow
@pytest.mark.parametrize("on_locked", ["pause()", "abort()"])
def test_questions_while_the_tool_holds_a_lock(
    on_locked: str, folds: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with _interrupted_inside(folds, tmp_path, monkeypatch, on_locked) as session:
        assert session.stop is not None
        assert session.stop.ordinal > 0
        with pytest.raises(AgentError, match=r"in the middle of the action|printing it crashes"):
            session.ir.print("function")
        session.breakpoints.add("pass:cse")
