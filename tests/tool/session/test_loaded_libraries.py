"""Programs that load MLIR several times: two of them, copies, one that is unloaded meanwhile."""

from __future__ import annotations

import mmap
import os
import shutil
import struct
import subprocess
from pathlib import Path

import pytest

import actiondbg
from tests.elements import some
from tests.paths import COMMAND
from tests.tool.targets.targets import TARGETS

# Runs a pass with each library of its command line, in a thread, and unloads it.
PROGRAM = r"""
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

typedef struct { void *pointer; } Object;
typedef struct { const char *data; size_t size; } Text;
typedef struct { signed char value; } Result;

static void *work(void *library) {
  Object (*newContext)(void) = dlsym(library, "mlirContextCreate");
  void (*allow)(Object, _Bool) = dlsym(library, "mlirContextSetAllowUnregisteredDialects");
  Object (*parse)(Object, Text) = dlsym(library, "mlirModuleCreateParse");
  Object (*operation)(Object) = dlsym(library, "mlirModuleGetOperation");
  Object (*newManager)(Object) = dlsym(library, "mlirPassManagerCreate");
  void (*add)(Object, Object) = dlsym(library, "mlirPassManagerAddOwnedPass");
  Object (*newPass)(void) = dlsym(library, "mlirCreateTransformsCanonicalizer");
  Result (*run)(Object, Object) = dlsym(library, "mlirPassManagerRunOnOp");
  void (*endManager)(Object) = dlsym(library, "mlirPassManagerDestroy");
  void (*endModule)(Object) = dlsym(library, "mlirModuleDestroy");
  void (*endContext)(Object) = dlsym(library, "mlirContextDestroy");
  const char *source = "module { %0 = \"x.y\"() : () -> i32 }";
  Text text = {source, strlen(source)};
  Object context = newContext();
  allow(context, 1);
  Object module = parse(context, text);
  Object manager = newManager(context);
  if (newPass)
    add(manager, newPass());
  printf("%d ", run(manager, operation(module)).value);
  endManager(manager);
  endModule(module);
  endContext(context);
  return NULL;
}

int main(int count, char **paths) {
  dlopen("libLLVM.so", RTLD_NOW); // or it would need what is loaded with it
  for (int i = 1; i < count; ++i) {
    void *library = dlopen(paths[i], RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      fprintf(stderr, "%s\n", dlerror());
      return 1;
    }
    pthread_t thread;
    pthread_create(&thread, NULL, work, library);
    pthread_join(thread, NULL);
    dlclose(library);
    puts(dlopen(paths[i], RTLD_NOW | RTLD_NOLOAD) ? "loaded" : "unloaded");
  }
  return 5;
}
"""
_LIBRARY = "_mlir_libs/libMLIRPythonCAPI.so"
_IREE = TARGETS["iree"].programs["iree-opt"].with_name("libIREECompiler.so")


def unloadable(source: Path, target: Path) -> None:
    """Copy a library so that it can be unloaded, and shares nothing with another copy.

    Source: the ELF specification; /usr/include/elf.h has the numbers.
    """
    shutil.copyfile(source, target)
    with target.open("r+b") as file, mmap.mmap(file.fileno(), 0) as memory:
        (sections,) = struct.unpack_from("<Q", memory, 40)
        size, count = struct.unpack_from("<HH", memory, 58)
        for header in range(sections, sections + size * count, size):
            (kind,) = struct.unpack_from("<I", memory, header + 4)
            begin, length = struct.unpack_from("<QQ", memory, header + 24)
            if kind == 11:  # SHT_DYNSYM: STB_GNU_UNIQUE becomes STB_GLOBAL
                for at in range(begin + 4, begin + length, 24):
                    if memory[at] >> 4 == 10:
                        memory[at] = memory[at] & 15 | 16
            if kind == 6:  # SHT_DYNAMIC: without NODELETE in DT_FLAGS_1
                for at in range(begin, begin + length, 16):
                    tag, value = struct.unpack_from("<QQ", memory, at)
                    if tag == 0x6FFFFFFB:
                        struct.pack_into("<Q", memory, at + 8, value & ~8)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the program and two copies of MLIR."""
    mlir = pytest.importorskip("mlir")
    folder = tmp_path_factory.mktemp("libraries")
    (folder / "program.c").write_text(PROGRAM)
    subprocess.run(
        ["cc", "-o", folder / "program", folder / "program.c", "-ldl", "-lpthread"], check=True
    )
    for name in ("first.so", "second.so"):
        unloadable(Path(mlir.__path__[0]) / _LIBRARY, folder / name)
    return folder


@pytest.fixture
def env() -> dict[str, str]:
    """An environment in which the copies find the libraries that they need."""
    mlir = Path(pytest.importorskip("mlir").__path__[0])
    folders = (mlir / "_mlir_libs", mlir / "lib", mlir.parent / "llvm" / "lib")
    return {**os.environ, "LD_LIBRARY_PATH": ":".join(map(str, folders))}


@pytest.mark.parametrize(
    ("libraries", "actions", "notices"),
    [
        (["first.so", "first.so", "first.so"], 3, ["is loaded again"] * 2),
        (["first.so", "second.so"], 6, []),
        pytest.param(
            ["first.so", str(_IREE), "second.so"],
            6,
            [],
            marks=TARGETS["iree"].marks,
        ),
        pytest.param(
            [str(_IREE), "first.so"],
            3,
            [],
            marks=TARGETS["iree"].marks,
        ),
    ],
    ids=["unloaded", "copies", "two", "other-first"],
)
def test_each_mlir_is_debugged_when_it_makes_a_context(
    libraries: list[str], actions: int, notices: list[str], folder: Path, env: dict[str, str]
) -> None:
    argv = [str(folder / "program"), *(str(folder / each) for each in libraries)]
    bare = subprocess.run(argv, capture_output=True, text=True, check=False, env=env)
    assert bare.returncode == 5
    assert bare.stdout.count("1 ") == len(libraries)
    if str(_IREE) not in libraries:
        assert bare.stdout.count("unloaded") == len(libraries)

    words = [COMMAND, "record", "-o", str(folder / "run.adbrec"), "--", *argv]
    recorded = subprocess.run(words, capture_output=True, text=True, check=False, env=env)
    assert (recorded.returncode, recorded.stdout) == (5, bare.stdout)
    unobserved = [line for line in recorded.stderr.splitlines() if "runs unobserved" in line]
    assert len(unobserved) == len(notices)
    assert all(map(str.endswith, unobserved, notices))
    assert f"actiondbg: {actions} actions" in recorded.stderr

    with actiondbg.launch(argv, env=env) as s:
        s.breakpoints.add("pass:canonicalize")
        stop = s.run()
        for _ in some(range(actions // 3)):
            assert (stop.when, stop.name) == ("before", "canonicalize")
            stop = s.continue_()
        assert (stop.when, stop.status) == ("exit", 5)
        assert s.target.output() == bare.stdout


# Forks while another thread loads a library; each fork loads another one.
FORKING = r"""
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int isLoaded;

static void *load(void *path) {
  if (!dlopen(path, RTLD_NOW))
    puts(dlerror());
  isLoaded = 1;
  return NULL;
}

int main(int count, char **words) {
  pthread_t thread;
  pthread_create(&thread, NULL, load, words[1]);
  while (!isLoaded) {
    if (fork() == 0) {
      alarm(30);
      dlopen("libanl.so.1", RTLD_NOW);
      _exit(0);
    }
    usleep(5000);
  }
  int status;
  while (wait(&status) > 0)
    if (status)
      puts("a fork did not end");
  pthread_join(thread, NULL);
  puts("loaded");
}
"""


def test_forks_while_a_library_is_loaded(tmp_path: Path, env: dict[str, str]) -> None:
    """A fork made while the agent looks into the library can load libraries itself."""
    env["XDG_CACHE_HOME"] = str(tmp_path / "cache")
    program = str(tmp_path / "program")
    words = ["cc", "-x", "c", "-", "-o", program, "-ldl", "-pthread"]
    subprocess.run(words, input=FORKING, text=True, check=True)
    (library,) = Path(pytest.importorskip("mlir").__path__[0]).glob("lib/libMLIR.so")
    record = [COMMAND, "record", "-o", str(tmp_path / "run.adbrec"), "--", program, str(library)]
    done = subprocess.run(record, capture_output=True, text=True, check=False, env=env)
    assert (done.returncode, done.stdout) == (0, "loaded\n")
