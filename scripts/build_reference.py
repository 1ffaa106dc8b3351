"""Build the API reference with pdoc; a warning is an error."""

from __future__ import annotations

import ast
import inspect
import sys
import textwrap
import tokenize
import warnings
from functools import cache
from importlib import import_module
from io import StringIO
from pathlib import Path
from types import ModuleType

import pdoc
import pdoc.doc_ast
import pdoc.render

# The packages and modules of the Python API. A package with `__all__` hides its modules.
PACKAGES = (
    "actiondbg",
    "actiondbg.session",
    "actiondbg.breakpoints",
    "actiondbg.process",
    "actiondbg.protocol",
    "actiondbg.analysis",
    "actiondbg.ir",
    "actiondbg.bisection",
    "actiondbg.recording",
    "actiondbg.recording.capture",
    "actiondbg.recording.query",
    "actiondbg.recording.recording",
    "actiondbg.recording.session",
    "actiondbg.kernels",
    "actiondbg.kernels.model",
    "actiondbg.kernels.operations",
    "actiondbg.kernels.problems",
    "actiondbg.kernels.providers.provider",
    "actiondbg.kernels.providers.registry",
    "actiondbg.kernels.providers.steps",
    "actiondbg.kernels.execution.kernel",
    "actiondbg.kernels.execution.kernel_process",
    "actiondbg.kernels.verification",
    "actiondbg.kernels.results",
    "actiondbg.kernels.sweep",
    "actiondbg.kernels.bisection",
    "actiondbg.kernels.search",
    "actiondbg.kernels.counting",
)


def main(directory: Path) -> int:
    """Write the pages; return the exit status."""
    warnings.simplefilter("error")
    # pdoc evaluates the annotations of a NamedTuple outside its module, so it prints their text.
    warnings.filterwarnings("ignore", message=r"Error parsing type annotation ForwardRef\(")
    for name in PACKAGES:
        _resolve_lazy_names(import_module(name))
    pdoc.doc_ast.walk_tree = _walk_with_comments
    pdoc.render.configure(docformat="google", show_source=False, footer_text="actiondbg")
    try:
        pdoc.pdoc(*PACKAGES, output_directory=directory)
    except Warning as warning:
        print(f"scripts/docs: {warning}", file=sys.stderr)
        return 1
    print(f"The API reference: {directory / 'index.html'}")
    return 0


_walk = pdoc.doc_ast.walk_tree


@cache
def _walk_with_comments(documented: object) -> pdoc.doc_ast.AstInfo:
    """Describe the fields of a class by the comments beside or above them, too."""
    found = _walk(documented)  # pyright: ignore[reportArgumentType]
    if not inspect.isclass(documented):
        return found
    try:
        source = textwrap.dedent(inspect.getsource(documented))
    except (OSError, TypeError):
        return found
    comments = {
        token.start[0]: token.string.removeprefix("#").strip()
        for token in tokenize.generate_tokens(StringIO(source).readline)
        if token.type == tokenize.COMMENT and "pyright:" not in token.string
    }
    lines = source.splitlines()
    body = ast.parse(source).body[0]
    assert isinstance(body, ast.ClassDef)
    for field in body.body:
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
            above = field.lineno
            while above - 1 in comments and lines[above - 2].lstrip().startswith("#"):
                above -= 1
            texts = [comments[at] for at in range(above, field.lineno)]
            texts += [comments[field.end_lineno]] if field.end_lineno in comments else []
            if texts:
                found.var_docstrings.setdefault(field.target.id, " ".join(texts))
    return found


def _resolve_lazy_names(package: ModuleType) -> None:
    """Import the names that a package imports on first use, where pdoc does not look for them."""
    for name in getattr(package, "__all__", ()):
        setattr(package, name, getattr(package, name))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
