"""Waits for threads that a fork does not have, in real processes."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from actiondbg.process.process_status import ThreadWait

# Its argument is how the other thread, or the main thread alone, waits.
PROGRAM = r"""
#include <linux/futex.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

static void *wait_for_ever(void *kind) {
  struct timespec end;
  clock_gettime(CLOCK_REALTIME, &end);
  end.tv_sec += 1000;
  pthread_mutex_lock(&mutex);
  for (;;) {
    if (!strcmp(kind, "sleep"))
      sleep(1000);
    else if (!strcmp(kind, "limit"))
      pthread_cond_timedwait(&condition, &mutex, &end);
    else
      pthread_cond_wait(&condition, &mutex);
  }
}

int main(int count, char **words) {
  puts("begun");
  fflush(stdout);
  if (!strcmp(words[1], "process")) {
    int *shared = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    syscall(SYS_futex, shared, FUTEX_WAIT, 0, NULL, NULL, 0);
  }
  if (!strcmp(words[1], "alone"))
    wait_for_ever(words[1]);
  pthread_t thread;
  pthread_create(&thread, NULL, wait_for_ever, words[1]);
  pthread_join(thread, NULL);
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    folder = tmp_path_factory.mktemp("threads")
    (folder / "threads.c").write_text(PROGRAM)
    subprocess.run([compiler, "-pthread", "-o", "threads", "threads.c"], cwd=folder, check=True)
    return folder / "threads"


@pytest.mark.skipif(
    not os.access("/proc/self/syscall", os.R_OK), reason="the system does not tell what is awaited"
)
@pytest.mark.parametrize(
    ("kind", "looks"),
    [("alone", 60), ("thread", 60), ("limit", 600), ("sleep", None), ("process", None)],
)
def test_a_wait_that_nobody_ends(kind: str, looks: int | None, program: Path) -> None:
    """A thread is joined by a futex that other processes could share, if its page were shared."""
    with subprocess.Popen([program, kind], stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"begun\n"
            tasks = Path(f"/proc/{process.pid}/task")
            threads = 1 if kind in ("alone", "process") else 2
            while len(list(tasks.iterdir())) < threads or not _all_sleep(tasks):
                time.sleep(0.01)
            wait = ThreadWait()
            seen = [wait.has_lasted(process.pid) for _ in range(700)]
        finally:
            process.kill()
    assert seen.count(False) == (700 if looks is None else looks - 1)


def _all_sleep(tasks: Path) -> bool:
    return all(
        (each / "stat").read_text().rpartition(")")[2].split()[0] == "S" for each in tasks.iterdir()
    )
