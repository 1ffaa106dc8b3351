"""The options of the commands that compile a kernel."""

from __future__ import annotations

from pathlib import Path

_BUFFERIZE = "--one-shot-bufferize=bufferize-function-boundaries"

# From buffers, loops and vectors to the dialect LLVM. The first passes change nothing after a
# configuration that has done their work.
TO_LLVM = (
    _BUFFERIZE,
    "--convert-linalg-to-loops",
    "--canonicalize",
    "--cse",
    "--convert-vector-to-scf",
    "--lower-affine",
    "--convert-scf-to-cf",
    "--expand-strided-metadata",
    "--lower-affine",
    "--convert-vector-to-llvm",
    "--convert-math-to-llvm",
    "--arith-expand",
    "--finalize-memref-to-llvm",
    "--convert-func-to-llvm",
    "--convert-arith-to-llvm",
    "--convert-index-to-llvm",
    "--convert-cf-to-llvm",
    "--convert-ub-to-llvm",
    "--reconcile-unrealized-casts",
    "--canonicalize",
    "--cse",
)

_MODULE = "builtin.module("
_CLOSING = {"{": "}", "(": ")"}

LLC = ("-O3", "-mcpu=native", "-filetype=obj", "-relocation-model=pic")


def schedule_passes(function: str) -> list[str]:
    """Return the passes that interpret the schedule of a module, and remove it."""
    return [
        "--transform-interpreter",
        f"--symbol-privatize=exclude={function}",
        "--symbol-dce",
    ]


def pipeline_passes(pipeline: str) -> list[str]:
    """Return the passes of a pipeline as options of mlir-opt, on buffers.

    Args:
        pipeline: the text, such as ``convert-linalg-to-loops,canonicalize{max-iterations=2}``, or
            nested, such as ``cse,func.func(affine-loop-unroll)``; "" for none. One with
            one-shot-bufferize begins with tensors.

    Raises:
        ValueError: brackets are unbalanced; the message is a sentence.
    """
    passes = split_pipeline(pipeline)
    bufferizes = "one-shot-bufferize" in pipeline
    if any(_is_nested(each) for each in passes):
        first = [] if bufferizes else ["one-shot-bufferize{bufferize-function-boundaries}"]
        return [f"--pass-pipeline=builtin.module({','.join([*first, *passes])})"]
    return [*([] if bufferizes else [_BUFFERIZE]), *(f"--{_option(each)}" for each in passes)]


def split_pipeline(pipeline: str) -> list[str]:
    """Split the text of a pipeline at the commas between passes.

    Raises:
        ValueError: brackets are unbalanced; the message is a sentence.
    """
    passes, expected = [""], ""
    text = pipeline.strip()
    if text.startswith(_MODULE) and text.endswith(")"):
        text = text[len(_MODULE) : -1]
    for character in text:
        if character in _CLOSING:
            expected += _CLOSING[character]
        elif character in _CLOSING.values():
            if not expected.endswith(character):
                break
            expected = expected[:-1]
        if character == "," and not expected:
            passes.append("")
        else:
            passes[-1] += character
    else:
        if not expected:
            return [each.strip() for each in passes if each.strip()]
    raise ValueError(
        f"The brackets of the pipeline '{pipeline}' are unbalanced: write "
        "pass{option=value},pass."
    )


def _is_nested(text: str) -> bool:
    return "(" in text.partition("{")[0]


def _option(text: str) -> str:
    name, brace, options = text.partition("{")
    return f"{name}={options.removesuffix('}')}" if brace else name


def link_options(runtime: Path | None) -> list[str]:
    """Return the options of the C compiler that compiles the timer and links the kernel.

    Args:
        runtime: the directory of libmlir_c_runner_utils, or None.
    """
    options = ["-shared", "-fPIC", "-O2", "timer.c", "kernel.o", "-o", "kernel.so", "-lm"]
    if runtime is None:
        return options
    needed = ["-Wl,--as-needed", f"-L{runtime}", f"-Wl,-rpath,{runtime}", "-lmlir_c_runner_utils"]
    return [*options, *needed]
