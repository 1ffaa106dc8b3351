"""The oracle ``--execute``: the program prints the same with and without the suspect passes."""

from __future__ import annotations

import itertools
import math
import re
import shlex
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from actiondbg.bisection.command_runner import CommandRunner, Completed
from actiondbg.bisection.copied_files import CopiedFiles
from actiondbg.bisection.oracles import (
    ENDED_WELL,
    KILLED,
    Oracle,
    OracleSetup,
    ShellJudge,
    shortened,
)
from actiondbg.bisection.verdict import Judgement
from actiondbg.errors import LaunchError, OracleError
from actiondbg.tool.command_line import is_file
from actiondbg.tool.identification import locate

EntryResult = Literal["void", "i32", "i64", "f32"]

# No canonicalize and no cse: they may be the passes with the bug. Passes that apply patterns
# greedily fold all else on the way, so they come after bufferization. No convert-complex-to-libm:
# its calls of functions of complex<f32>, such as clogf, do not have the ABI of C on x86-64.
PIPELINE = (
    "builtin.module(convert-elementwise-to-linalg,"
    "one-shot-bufferize{bufferize-function-boundaries},convert-bufferization-to-memref,"
    "func.func(lower-vector-mask,lower-vector-multi-reduction),expand-realloc,scf-forall-to-for,"
    "convert-linalg-to-loops,convert-vector-to-scf,lower-affine,convert-math-to-funcs,arith-expand,"
    "memref-expand,convert-scf-to-cf,expand-strided-metadata,lower-affine,"
    "convert-complex-to-standard,convert-math-to-llvm,convert-math-to-libm,convert-vector-to-llvm,"
    "convert-complex-to-llvm,convert-index-to-llvm,convert-arith-to-llvm,finalize-memref-to-llvm,"
    "convert-cf-to-llvm,convert-func-to-llvm,convert-ub-to-llvm,reconcile-unrealized-casts)"
)
TOLERANCE = 1e-5  # printf's %g gives six digits

# The words of actiondbg that run a tool without folds, which may have the bug. affine.apply is
# folded: types of subviews need its constants.
WITHOUT_FOLDS = (
    *("--batch", "-nx", "--return-child-result", "-ex", "set reproducer-directory off"),
    *("--skip", "fold:* if op != 'affine.apply'", "-ex", "run", "--"),
)
_RAN = re.compile(rb"^(?:The tool ended|Crash)", re.MULTILINE)  # in what actiondbg prints

# Removes the schedules of the transform dialect from IR as mlir-opt prints it: they are no part of
# the program, and the runner cannot read them. An operation ends at its indentation.
WITHOUT_SCHEDULES = r"""
/^ *transform[.]/ || /^ +module.*[{].*transform[.]with_named_sequence/ {
  if ($0 ~ /[{]$/ && !within) { within = 1; match($0, /^ */); indentation = RLENGTH }
  next
}
within { match($0, /^ */); if (RLENGTH == indentation && $0 ~ /^ *}/) within = 0; next }
{ gsub(/, transform[.]with_named_sequence|transform[.]with_named_sequence(, )?/, ""); print }
"""
_SCHEDULE = b"transform."

# LLVM 22 fails on vectors of a single bit on CPUs that have it.
WITHOUT_AVX512 = "--mattr=-avx512f"
_LIBRARIES = ("libmlir_runner_utils.so", "libmlir_c_runner_utils.so")
_NUMBER = re.compile(
    r"(?<![\w.])[-+]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|inf|nan)(?![\w.])", re.IGNORECASE
)
_INTEGER = re.compile(r"[-+]?\d+")
_NEEDS_FOLDS = "but its lowering needs folds, which may have the bug, too"
_REFERENCE = "reference.mlir"
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]+\b")  # of a memref: differs between runs


@dataclass
class Execute(Oracle):
    """Judges by the output of the program, after it is lowered and executed.

    The reference is the tool's input, lowered and executed without the suspect passes. What the
    lowering folds may have the bug, too: the reference and bad outputs are lowered again without
    folds, and once that makes a difference, all are, by actiondbg.

    Args:
        lower: the pipeline that lowers the input and each output to the LLVM dialect.
        entry: the function to call.
        entry_result: its result type; a result is printed.
        shared_libs: libraries of the runner; None for its own, if they are found.
        tolerance: relative and absolute, for numbers that are not integers.
        input: the input, if the tool's command line does not name it.
    """

    explains = True

    lower: str = PIPELINE
    entry: str = "main"
    entry_result: EntryResult = "void"
    shared_libs: tuple[str, ...] | None = None
    tolerance: float = TOLERANCE
    input: Path | None = None
    _expected: str = ""

    def __post_init__(self) -> None:
        if self.entry_result not in get_args(EntryResult):
            raise OracleError(
                f"The runner cannot call a function that returns {self.entry_result!r}: it takes "
                f"{', '.join(get_args(EntryResult))}."
            )

    def as_option(self) -> str:
        words = ["--execute"]
        if self.lower != PIPELINE:
            words += ["--lower", self.lower]
        if self.entry != "main":
            words += ["--entry", self.entry]
        if self.entry_result != "void":
            words += ["--entry-result", self.entry_result]
        if self.shared_libs is not None:
            words += ["--shared-libs", ",".join(self.shared_libs)]
        if self.tolerance != TOLERANCE:
            words += ["--tolerance", f"{self.tolerance:g}"]
        if self.input is not None:
            words += ["--input", str(self.input)]
        return shlex.join(words)

    def files(self, cwd: Path) -> list[Path]:
        return [cwd / self.input] if self.input and is_file(cwd / self.input) else []

    def prepare(self, setup: OracleSetup) -> None:
        path = setup.compared_input(self.input)
        commands = CommandRunner(setup.directory)
        self.needs_actiondbg = False
        self._expected, again = (self._reference(path, commands, setup) for _ in range(2))
        if first_difference(self._expected, again, self.tolerance):
            raise OracleError(
                "The input prints something else each time that it is run, so nothing can be "
                "compared with it: use --test with what is expected."
            )
        self._judge_folds(path, commands, setup)
        if not self._expected.strip():
            raise OracleError(
                f"The input prints nothing when {self.entry!r} is called, so no output can differ "
                "from it: let it print its result (printI64, printMemrefF32), or return it with "
                "--entry-result."
            )

    def judge_output(self, output: Path, commands: CommandRunner, setup: OracleSetup) -> Judgement:
        lowered = output.with_name(f"{output.name}.lowered.mlir")
        found = self._judge(output, lowered, commands, setup, folds=not self.needs_actiondbg)
        if found.verdict != "bad" or self.needs_actiondbg:
            return found
        again = self._judge(output, lowered, commands, setup, folds=False)
        if again.verdict == "good":
            self.needs_actiondbg = True
            return again
        if again.verdict == "untestable" and self.lower == PIPELINE:
            return Judgement("untestable", f"{found.reason}, {_NEEDS_FOLDS} ({again.reason})")
        return found

    def _judge_folds(self, source: Path, commands: CommandRunner, setup: OracleSetup) -> None:
        """Lower the reference without folds, too; it is the reference if the folds were wrong."""
        again = self._judge(source, setup.directory / _REFERENCE, commands, setup, folds=False)
        if again.verdict == "untestable" and self.lower == PIPELINE:
            raise OracleError(
                f"What the input prints is not known: {shortened(self._expected.strip())!r}, "
                f"{_NEEDS_FOLDS} ({again.reason}). Use --test with what is expected, or give the "
                "pipeline that lowers it with --lower."
            )
        if again.verdict == "bad":
            self.needs_actiondbg = True
            self._expected = self._reference(source, commands, setup)

    def _judge(
        self,
        source: Path,
        lowered: Path,
        commands: CommandRunner,
        setup: OracleSetup,
        folds: bool,
    ) -> Judgement:
        done = self._lower(source, lowered, commands, setup, folds)
        if done.status != 0:
            return Judgement("untestable", f"the output cannot be lowered{_reason(done)}")
        done = self._execute(lowered, commands, setup)
        if done.status is None:
            return Judgement("untestable", f"the program did not end in {setup.seconds:g} s")
        if done.in_compiler:
            return Judgement("untestable", f"the output cannot be compiled{_reason(done)}")
        if done.status < 0:
            return Judgement("bad", f"the program died of signal {-done.status}")
        if done.status != 0:
            return Judgement("untestable", f"the output cannot be executed{_reason(done)}")
        difference = first_difference(self._expected, _printed(done), self.tolerance)
        return Judgement("bad", difference) if difference else Judgement("good", "the same")

    def _reference(self, source: Path, commands: CommandRunner, setup: OracleSetup) -> str:
        lowered = setup.directory / _REFERENCE
        done = self._lower(source, lowered, commands, setup, folds=not self.needs_actiondbg)
        if done.status != 0:
            raise OracleError(
                f"The input cannot be lowered without the suspect passes{_reason(done)}; give the "
                "pipeline that lowers it with --lower."
            )
        done = self._execute(lowered, commands, setup)
        if done.status != 0:
            raise OracleError(
                f"The input, lowered without the suspect passes, cannot be executed{_reason(done)};"
                " see --entry, --entry-result, --shared-libs and --lower."
            )
        return _printed(done)

    def _lower(
        self, source: Path, target: Path, commands: CommandRunner, setup: OracleSetup, folds: bool
    ) -> Completed:
        tool = [str(beside("mlir-opt", setup.tool))]
        if "--allow-unregistered-dialect" in setup.argv:
            tool.append("--allow-unregistered-dialect")
        if _SCHEDULE in source.read_bytes():
            printed = _run_tool(commands, [*tool, str(source), "-o", str(target)], setup)
            if printed.status != 0:
                return printed
            program = _run_tool(commands, ["awk", WITHOUT_SCHEDULES, str(target)], setup)
            source = target.with_suffix(".program.mlir")
            shutil.copyfile(program.output, source)
        words = [str(source), f"--pass-pipeline={self.lower}", "-o", str(target)]
        if not folds:
            done = _run_tool(commands, without_folds([*tool, *words]), setup)
            if done.status is None or _RAN.search(done.output.read_bytes()):
                return done
        return _run_tool(commands, [*tool, *words], setup)  # the agent is not for this tool

    def _execute(self, lowered: Path, commands: CommandRunner, setup: OracleSetup) -> Completed:
        tool = beside("mlir-runner", setup.tool)
        libraries = self.shared_libs
        if libraries is None:
            libraries = runner_libraries(tool)
        words = ["-e", self.entry, f"--entry-point-result={self.entry_result}"]
        if libraries:
            words.append(f"--shared-libs={','.join(libraries)}")
        done = _run_tool(commands, [str(tool), str(lowered), *words], setup)
        if done.in_compiler:
            done = _run_tool(commands, [str(tool), str(lowered), *words, WITHOUT_AVX512], setup)
        return done

    def in_shell(self, copies: CopiedFiles, inside: Path | None = None) -> ShellJudge:
        source = self._copied_input(copies)
        return ShellJudge(
            "the output, lowered and executed, prints what the input prints that is lowered "
            "without these passes",
            [
                ENDED_WELL,
                'program "$out" "$work/printed" || return',
                f'awk -v tolerance={self.tolerance:g} "$same" "$work/expected" "$work/printed"',
            ],
            [
                _TOOLS,
                _shell_libraries(self.shared_libs),
                _shell_program(self),
                _SAME,
                f'program {source} "$work/expected" || {{',
                f'  echo "The program in {source} cannot be lowered and executed."',
                "  exit 2",
                "}",
            ],
        )

    def _copied_input(self, copies: CopiedFiles) -> str:
        if self.input is None and copies.source is not None:
            return shlex.quote(copies.source)
        source = self.input or copies.input  # a program reads it in its own place
        assert source is not None  # without an input the oracle has refused the bisection
        return shlex.quote(copies.add(copies.base / source))


def without_folds(command: Sequence[str]) -> list[str]:
    """Return a command that runs a tool of MLIR in actiondbg, without folds."""
    return [sys.executable, "-m", "actiondbg", *WITHOUT_FOLDS, *command]


def first_difference(expected: str, printed: str, tolerance: float) -> str | None:
    """Compare two texts: numbers within a tolerance, the rest exactly except for blanks.

    Returns:
        A description of the first difference, or None.
    """
    pairs = itertools.zip_longest(_lines(expected), _lines(printed))
    for number, (left, right) in enumerate(pairs, 1):
        if left is None or right is None:
            fewer = "more" if left is None else "fewer"
            return f"line {number}: {fewer} lines are printed than expected"
        if not _same_line(left, right, tolerance):
            return f"line {number}: expected {shortened(left)!r}, printed {shortened(right)!r}"
    return None


def _lines(text: str) -> list[str]:
    lines = [" ".join(_ADDRESS.sub("0x", line).split()) for line in text.splitlines()]
    return [line for line in lines if line]


def _same_line(left: str, right: str, tolerance: float) -> bool:
    if left == right:
        return True
    if _NUMBER.sub("0", left) != _NUMBER.sub("0", right):
        return False
    numbers = zip(_NUMBER.findall(left), _NUMBER.findall(right), strict=True)
    return all(_same_number(a, b, tolerance) for a, b in numbers)


def _same_number(left: str, right: str, tolerance: float) -> bool:
    if _INTEGER.fullmatch(left) and _INTEGER.fullmatch(right):
        return left == right  # -0 is no integer
    a, b = float(left), float(right)
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) and math.isnan(b)
    return math.isclose(a, b, rel_tol=tolerance, abs_tol=tolerance)


def _run_tool(commands: CommandRunner, command: list[str], setup: OracleSetup) -> Completed:
    try:
        return commands.run(command, None, setup.seconds, setup.cwd)
    except OSError as error:
        raise OracleError(f"{command[0]!r} cannot be run ({error}): check the tools.") from error


def _printed(done: Completed) -> str:
    return done.output.read_text(encoding="utf-8", errors="replace")


def _reason(done: Completed) -> str:
    if done.status is None:
        return ": it did not end in time"
    lines = done.errors.splitlines()
    said = next((line for line in lines if "error" in line.lower()), lines[0] if lines else "")
    if not said and done.status < 0:
        said = f"it died of signal {-done.status}"
    return f": {shortened(said)}" if said else ""


def beside(name: str, tool: Path) -> Path:
    """Find a tool beside the debugged one, on PATH, or in this environment.

    Raises:
        OracleError: there is none.
    """
    if tool.name != str(tool):
        if tool.name == name:
            return tool
        for folder in (tool.parent, tool.resolve().parent):
            if (folder / name).is_file():
                return folder / name
    try:
        return locate(name)
    except LaunchError as error:
        raise OracleError(
            f"There is no {name}, neither beside {str(tool)!r} nor on PATH: install it, or use "
            "another oracle."
        ) from error


def runner_libraries(runner: Path) -> tuple[str, ...]:
    """Return the libraries that lowered programs call, if they are with the runner."""
    root = runner.resolve().parent.parent
    for folder in (root / "lib", root / "lib64"):
        found = [folder / name for name in _LIBRARIES]
        if all(file.is_file() for file in found):
            return tuple(map(str, found))
    return ()


Compare = Execute  # the former name


# --- as shell commands: MLIR tools and awk ---------------------------------------------------


_TOOLS = """\
# The tools beside MLIR_OPT, else the tools of PATH.
beside() {
  folder=$(dirname -- "$(command -v -- "$MLIR_OPT")")
  if [ -x "$folder/$1" ]; then echo "$folder/$1"; else command -v "$1"; fi
}
lower=$(beside mlir-opt) || { echo "There is no mlir-opt."; exit 2; }
runner=${MLIR_RUNNER:-$(beside mlir-runner)}
[ -n "$runner" ] || { echo "There is no mlir-runner."; exit 2; }
"""


def _shell_libraries(given: tuple[str, ...] | None) -> str:
    if given is not None:
        return f"libraries={shlex.quote(','.join(given))}\n"
    return f"""\
libraries=
root=$(dirname -- "$(dirname -- "$(readlink -f -- "$runner")")")
for folder in "$root/lib" "$root/lib64"; do
  for name in {" ".join(_LIBRARIES)}; do
    [ -f "$folder/$name" ] && libraries=$libraries${{libraries:+,}}$folder/$name
  done
done
"""


def _shell_program(oracle: Execute) -> str:
    words = ["-e", oracle.entry, f"--entry-point-result={oracle.entry_result}"]
    folding, lower, failed = "", '"$lower"', "|| return 125"
    if oracle.needs_actiondbg:
        ours = shlex.quote(str(Path(sys.executable).with_name("actiondbg")))
        folding = f"""\

# The folds of the lowering have the bug, too: actiondbg runs it without them.
[ -n "$ACTIONDBG" ] || ACTIONDBG=$(command -v actiondbg || echo {ours})
"""
        lower = f'"$ACTIONDBG" {shlex.join(WITHOUT_FOLDS)} "$lower"'
        failed = '> "$work/lowering" 2>&1 || { cat "$work/lowering"; return 125; }'
    return f"""\
pipeline={shlex.quote(oracle.lower)}
{folding}
# Removes the schedules of the transform dialect, which are no part of the program.
schedules={shlex.quote(WITHOUT_SCHEDULES)}

# program FILE PRINTED: lowers a program, executes it, and keeps what it prints.
program() {{
  program=$1
  if grep -q "transform[.]" "$1"; then
    limit "$lower" "$1" --allow-unregistered-dialect -o "$work/printed.mlir" || return 125
    awk "$schedules" "$work/printed.mlir" > "$work/program.mlir"
    program=$work/program.mlir
  fi
  limit {lower} "$program" --allow-unregistered-dialect --pass-pipeline="$pipeline" \\
    -o "$work/lowered.mlir" {failed}
  limit "$runner" "$work/lowered.mlir" {shlex.join(words)} \\
    ${{libraries:+--shared-libs="$libraries"}} > "$2"
  code=$?
  [ "$code" -eq 0 ] && return 0
  [ "$code" -ge 128 ] && [ "$code" -ne {KILLED} ] && return 1
  return 125
}}
"""


# Compares words: numbers within the tolerance, integers and all others exactly.
_SAME = r"""same='
function words(line) {
  gsub(/0x[0-9a-fA-F]+/, "0x", line)
  gsub(/[ \t]+/, " ", line)
  sub(/^ /, "", line); sub(/ $/, "", line)
  gsub(/ /, " _ ", line)  # a blank is a word too
  gsub(/[][(){},;:=]/, " & ", line)
  return line
}
function number(word) {
  return word ~ /^[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][-+]?[0-9]+)?$/
}
function size(x) { return x < 0 ? -x : x }
function differs(a, b,   near) {
  if (a "" == b "") return 0
  if (!number(a) || !number(b) || (a b) !~ /[.eE]/) return 1
  near = tolerance * (size(a) > size(b) ? size(a) : size(b))
  return size(a - b) > (near > tolerance ? near : tolerance)
}
{ line = words($0); if (line == "") next }
FILENAME == ARGV[1] { expected[++lines] = line; said[lines] = $0; next }
{
  seen++
  count = split(expected[seen], left, " ")
  if (seen > lines || count != split(line, right, " ")) wrong = 1
  for (at = 1; at <= count && !wrong; at++) if (differs(left[at], right[at])) wrong = 1
  if (wrong && !told++) print "expected: " said[seen] "\nprinted:  " $0
}
END { exit wrong || seen != lines }
'
"""
