"""The options of the commands that compile a kernel."""

from __future__ import annotations

from actiondbg.kernels.providers.mlir.toolchain import Toolchain
from actiondbg.kernels.providers.shared_library import SUPPORT

_BUFFERIZE = "--one-shot-bufferize=bufferize-function-boundaries"

# Buffers of tiles are made once, outside of the loops; small ones on the stack.
_DEALLOCATE = (
    "--buffer-loop-hoisting",
    "--promote-buffers-to-stack=max-alloc-size-in-bytes=65536",
    "--buffer-deallocation-pipeline",
)

# From buffers, loops and vectors to the dialect LLVM. The first passes change nothing after a
# configuration that has done their work.
_TO_LLVM = (
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
    # Functions that LLVM lacks, such as erf, as calls of libm for each element of a vector.
    "--convert-math-to-libm",
    "--convert-vector-to-llvm",
    "--finalize-memref-to-llvm",
    "--convert-func-to-llvm",
    # Before --arith-expand, whose minima and maxima do not distinguish -0.0 from 0.0.
    "--convert-arith-to-llvm",
    "--arith-expand",
    "--convert-arith-to-llvm",
    "--convert-index-to-llvm",
    "--convert-cf-to-llvm",
    "--convert-ub-to-llvm",
    "--reconcile-unrealized-casts",
    "--canonicalize",
    "--cse",
)
_LLC = ("-O3", "-mcpu=native", "-filetype=obj", "-relocation-model=pic")

# What decides the code of every kernel, beside its source.
IDENTITY = " ".join((_BUFFERIZE, *_DEALLOCATE, *_TO_LLVM, *_LLC))

_MODULE = "builtin.module("
_CLOSING = {"{": "}", "(": ")"}


def schedule_passes(function: str) -> list[str]:
    """Return the passes that interpret the schedule of a module, and remove it."""
    return [
        "--transform-interpreter",
        f"--symbol-privatize=exclude={function}",
        "--symbol-dce",
    ]


def has_bits(body: str) -> bool:
    """Return whether there are tensors of i1.

    MLIR stores the elements of a vector of i1 as bits, and single ones as bytes.
    """
    return "xi1>" in body


def default_passes(body: str) -> list[str]:
    """Return the passes of the default configuration.

    Args:
        body: of the function. One with tensors of bits has its operations fused, such that none of
            them are stored: MLIR 22 cannot lower that (an assertion fails).
    """
    return ["--linalg-fuse-elementwise-ops", _BUFFERIZE] if has_bits(body) else [_BUFFERIZE]


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


def to_llvm(scheduled: str, *, reassociate: bool) -> list[str]:
    """Return the passes that bring a configured function to the dialect LLVM.

    Args:
        scheduled: the module, which decides whether buffers are left to be deallocated.
        reassociate: whether the elements of a vector may be added as a tree; else one by one.
    """
    allocates = "memref.dealloc" not in scheduled and (
        "memref.alloc" in scheduled or "tensor.empty" in scheduled
    )
    vectors = "--convert-vector-to-llvm"
    tree = f"{vectors}=reassociate-fp-reductions"
    passes = [tree if reassociate and each == vectors else each for each in _TO_LLVM]
    return [_BUFFERIZE, *(_DEALLOCATE if allocates else ()), *passes]


def llc_options(toolchain: Toolchain) -> list[str]:
    # LLVM takes the names of vector functions from the module's triple.
    library = ["-vector-library=LIBMVEC"] if toolchain.vector_math else []
    return [*_LLC, f"-mtriple={toolchain.triple}", *library]


def link_options(toolchain: Toolchain) -> list[str]:
    """Return the options of the C compiler that compiles SUPPORT and links the kernel."""
    options = ["-shared", "-fPIC", "-O2", SUPPORT, "kernel.o", "-o", "kernel.so"]
    libraries = ["-Wl,-z,defs", "-Wl,--as-needed", "-lm"]
    if toolchain.vector_math:
        libraries.append("-lmvec")
    if toolchain.runtime is not None:
        place = [f"-L{toolchain.runtime}", f"-Wl,-rpath,{toolchain.runtime}"]
        libraries += [*place, "-lmlir_c_runner_utils"]
    return [*options, *libraries]
