"""``--compare`` in the words of a POSIX shell and awk."""

from __future__ import annotations

import shlex
from pathlib import Path

from actiondbg.bisection.oracles.compare import Compare
from actiondbg.bisection.reproducer.portable import Copies
from actiondbg.bisection.reproducer.script import ENDED_WELL, KILLED, Judge

_LIBRARIES = "libmlir_runner_utils.so libmlir_c_runner_utils.so"


def compare_judge(oracle: Compare, copies: Copies) -> Judge:
    """Return the oracle as a function of the shell's.

    Args:
        oracle: which.
        copies: where its input is noted.
    """
    source = _source(oracle, copies)
    return Judge(
        "the output, lowered and executed, prints what the input prints that is lowered without "
        "these passes",
        [
            ENDED_WELL,
            'program "$out" "$work/printed" || return',
            f'awk -v tolerance={oracle.tolerance:g} "$same" "$work/expected" "$work/printed"',
        ],
        [
            _TOOLS,
            _libraries(oracle.shared_libs),
            _program(oracle),
            _SAME,
            f'program {source} "$work/expected" || {{',
            f'  echo "The program in {source} cannot be lowered and executed."',
            "  exit 2",
            "}",
        ],
    )


def _source(oracle: Compare, copies: Copies) -> str:
    """Return the name of the program that is right."""
    if oracle.input is not None:
        return shlex.quote(copies.add(Path(copies.base / oracle.input)))
    return shlex.quote(next(name for name in copies.files if name.startswith("input.")))


_TOOLS = """\
# The tools beside MLIR_OPT, else those of PATH.
beside() {
  folder=$(dirname -- "$(command -v -- "$MLIR_OPT")")
  if [ -x "$folder/$1" ]; then echo "$folder/$1"; else command -v "$1"; fi
}
lower=$(beside mlir-opt) || { echo "There is no mlir-opt."; exit 2; }
runner=${MLIR_RUNNER:-$(beside mlir-runner)}
[ -n "$runner" ] || { echo "There is no mlir-runner."; exit 2; }
"""


def _libraries(given: tuple[str, ...] | None) -> str:
    if given is not None:
        return f"libraries={shlex.quote(','.join(given))}\n"
    return f"""\
libraries=
root=$(dirname -- "$(dirname -- "$(readlink -f -- "$runner")")")
for folder in "$root/lib" "$root/lib64"; do
  for name in {_LIBRARIES}; do
    [ -f "$folder/$name" ] && libraries=$libraries${{libraries:+,}}$folder/$name
  done
done
"""


def _program(oracle: Compare) -> str:
    words = ["-e", oracle.entry, f"--entry-point-result={oracle.entry_result}"]
    return f"""\
pipeline={shlex.quote(oracle.lower)}

# program FILE PRINTED: lowers a program, executes it, and keeps what it prints.
program() {{
  limit "$lower" "$1" --allow-unregistered-dialect --pass-pipeline="$pipeline" \\
    -o "$work/lowered.mlir" || return 125
  limit "$runner" "$work/lowered.mlir" {shlex.join(words)} \\
    ${{libraries:+--shared-libs="$libraries"}} > "$2"
  code=$?
  [ "$code" -eq 0 ] && return 0
  [ "$code" -ge 128 ] && [ "$code" -ne {KILLED} ] && return 1
  return 125
}}
"""


# Words are compared, those that are numbers within the tolerance, integers exactly.
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
