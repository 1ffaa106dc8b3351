"""Front ends in surroundings that lack something: encodings, system calls."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import LIBRARY
from tests.fakes.privileges import without_pidfds
from tests.paths import COMMAND

BUILDS = LIBRARY

NAMES = 'func.func @"größe→🎉"() {\n  return\n}\n'


_POSIX = {"LC_ALL": "POSIX", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}


def in_ascii(
    *arguments: str, stdin: bytes = b"", variables: dict[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    environment = {**os.environ, **(variables or {"PYTHONIOENCODING": "ascii"})}
    return subprocess.run(
        [COMMAND, *arguments], input=stdin, capture_output=True, env=environment, check=False
    )


def test_characters_that_the_encoding_lacks_are_escaped(mlir_opt: str, folds: str) -> None:
    Path("größe.mlir").write_text(Path(folds).read_text())
    commands = [word for line in ("echo ä→🎉", "start", "bt", "step 3") for word in ("-ex", line)]
    ended = in_ascii("-nx", "--batch", *commands, "--", mlir_opt, "größe.mlir", "--canonicalize")
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.splitlines()[0] == rb"\u00e4\u2192\ud83c\udf89"
    assert b" at gr\\u00f6\\u00dfe.mlir:" in ended.stdout


def test_characters_that_the_locale_lacks_are_escaped(tmp_path: Path) -> None:
    script = tmp_path / "lines.adbg"
    script.write_text("echo größe→🎉\n")
    ended = in_ascii("-nx", "--batch", "-ex", f"source {script}", "true", variables=_POSIX)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout == rb"gr\u00f6\u00dfe\u2192\ud83c\udf89" + b"\n"


def test_a_script_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    script = tmp_path / "lines.adbg"
    script.write_text("echo hello\n", encoding="utf-8-sig")
    for words in (("-ex", f"source {script}"), ("-x", str(script))):
        ended = in_ascii("-nx", "--batch", *words, "true")
        assert (ended.returncode, ended.stdout) == (0, b"hello\n")


def test_json_stays_json_in_any_encoding(mlir_opt: str, folds: str) -> None:
    lines = "echo ä→🎉\nstart\nfrob ü\n".encode()
    ended = in_ascii("-nx", "--json", "--", mlir_opt, folds, "--canonicalize", stdin=lines)
    echoed, started, unknown = (json.loads(line) for line in ended.stdout.splitlines())
    spoken = os.fsencode(echoed["result"]["text"])
    assert spoken.decode() == "ä→🎉"
    assert started["ok"] and not unknown["ok"]


def test_errors_are_escaped(tmp_path: Path) -> None:
    ended = in_ascii("query", str(tmp_path / "ü.adbrec"), "actions")
    assert ended.returncode == 1
    assert b"\\xfc.adbrec" in ended.stderr and b"Traceback" not in ended.stderr


@pytest.mark.parametrize("code", [errno.EPERM, errno.ENOSYS])
def test_a_kernel_without_pidfds_is_named(mlir_opt: str, folds: str, code: int) -> None:
    argv = [sys.executable, COMMAND, "-nx", "--batch", "-ex", "run"]
    tool = [mlir_opt, folds, "--canonicalize", "-o", "out.mlir"]
    ended = without_pidfds(*argv, "--", *tool, code=code)
    assert ended.returncode == 3
    reason = os.strerror(code)
    assert f"The kernel refuses pidfd_open ({reason})" in ended.stderr
    assert "seccomp" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_recording_needs_no_pidfds(mlir_opt: str, folds: str) -> None:
    argv = [sys.executable, COMMAND, "record", "-o", "run.adbrec"]
    ended = without_pidfds(*argv, "--", mlir_opt, folds, "--canonicalize", "-o", "out.mlir")
    assert ended.returncode == 0, ended.stderr
    assert Path("run.adbrec").stat().st_size > 0 and Path("out.mlir").exists()
