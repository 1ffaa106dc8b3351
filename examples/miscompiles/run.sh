# Sourced by the tests beside it: `. run.sh`, then `runs OUTPUT EXPECTED [EXTRA_PASS]`.
#
# runs lowers the module in the file OUTPUT by a plain pipeline, runs its @main, and ends the
# test: 0 when it prints EXPECTED, 1 when it prints something else, crashes or hangs, and 125
# when the module cannot be lowered or run at all.
#
# The tools are $MLIR_OPT and $MLIR_RUNNER, or those of PATH; the libraries of the runner are
# those beside it. The pipeline has neither canonicalize nor any other pass that it has to judge.

untestable() {
  echo "$(basename "$0"): $*" >&2
  exit 125
}

find_tool() {
  command -v "$1" || untestable "there is no $1"
}

runs() {
  opt=$(find_tool "${MLIR_OPT:-mlir-opt}") || exit 125
  runner=$(find_tool "${MLIR_RUNNER:-mlir-runner}") || exit 125
  lib=$(dirname "$(dirname "$(readlink -f "$runner")")")/lib
  test -e "$lib/libmlir_c_runner_utils.so" || lib=${lib}64
  test -e "$lib/libmlir_c_runner_utils.so" || untestable "the runner's libraries are not in $lib"

  work=$(mktemp -d) || exit 125
  trap 'rm -rf "$work"' EXIT

  passes='one-shot-bufferize{bufferize-function-boundaries},convert-vector-to-scf,lower-affine'
  passes="${3:+$3,}$passes,convert-scf-to-cf,expand-strided-metadata,lower-affine"
  for dialect in vector func index arith cf; do
    passes="$passes,convert-$dialect-to-llvm"
  done
  passes="$passes,finalize-memref-to-llvm,reconcile-unrealized-casts"

  "$opt" "$1" --pass-pipeline="builtin.module($passes)" -o "$work/lowered.mlir" ||
    untestable "the output cannot be lowered"

  status=0
  printed=$(timeout 60 "$runner" "$work/lowered.mlir" -e main --entry-point-result=void \
    --shared-libs="$lib/libmlir_runner_utils.so,$lib/libmlir_c_runner_utils.so" \
    2> "$work/errors") || status=$?
  if test "$status" -ge 124; then
    echo "the program crashed or hung" >&2
    exit 1
  elif test "$status" -ne 0; then
    cat "$work/errors" >&2
    untestable "the lowered output cannot be run"
  fi
  echo "expected: $2"
  echo "printed:  $printed"
  test "$printed" = "$2" || exit 1
  exit 0
}
