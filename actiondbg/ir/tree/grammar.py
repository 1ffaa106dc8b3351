"""What the scanner has to know of MLIR's syntax: tokens, and words that begin no operation."""

from __future__ import annotations

import re

from actiondbg.ir.tokens import BLANKS, COMMENT, ID, OPERATION, RESULT, RESULTS, STRING, SYMBOL_PATH

# A string without what else would count: brackets, symbols, escapes.
_PLAIN = r'"[^"\\\n@(){}\[\]]*+"'
# A whole line that is one operation, with no braces but those of a flat dictionary.
SIMPLE_LINE = re.compile(
    rf"[ \t]*+(?:({RESULT}(?>(?:, {RESULT})*)) = )?"
    rf'(?:"({OPERATION})"(?=\()|({OPERATION})(?![\w$.]))'
    rf'((?>(?:[^\n{{}}"]++|{_PLAIN}|\{{[\w.$]+ = (?>(?:[^\n{{}}"]++|{_PLAIN})*)\}})*))'
    r"(?:\n|\Z)"
)
# The beginning of an operation: results, and a name in the generic or in the pretty form.
START = re.compile(
    rf"(?P<results>{RESULTS})?"
    rf'(?:"(?P<generic>[^"\\\n]+)"(?=\s*[(<])|(?P<name>{OPERATION})(?![\w$.]))'
)
# An operation behind another on one line: only with results and a complete name.
START_INSIDE = re.compile(rf'{RESULTS}(?=(?:"[^"\\\n]+"\s*\(|[A-Za-z_][\w$]*\.[A-Za-z_]))')
LABEL = re.compile(rf"\^{ID}")
ALIAS = re.compile(rf"(?P<name>[#!]{ID})\s*=\s*")
# A whole line that defines an alias of a location.
SIMPLE_ALIAS = re.compile(
    rf"(\#{ID}) = loc\(([^()\n]*+(?:\([^()\n]*+\)[^()\n]*+)?)\)[ \t]*+\r?+(?:\n|\Z)"
)
LOCATION = re.compile(r"loc\s*\(")
OPENS = re.compile(r"[ \t]*\{")
ASSIGNS = re.compile(r":|\s*=")
WORD = re.compile(r"[A-Za-z_]\w*")
BLANK = re.compile(r"[ \t\r]*")
SPACE = re.compile(BLANKS)

# The tokens that matter inside an operation; each other character is skipped.
TOKEN = re.compile(
    rf"(?P<string>{STRING})|(?P<comment>{COMMENT})|(?P<line>\n)"
    r"|(?P<flat>\([^(){}\[\]\"@\n/]*+\)|\[[^(){}\[\]\"@\n/]*+\])"
    r"|(?P<open>[({\[])|(?P<close>[)}\]])"
    r"|(?P<loc>(?<![\w.#@%!$-])loc\s*\()"
    rf"|(?P<symbol>{SYMBOL_PATH})"
    r"|(?P<value>(?<!,\s)%)|(?P<quote>\")"
)
SYMBOL = re.compile(SYMBOL_PATH)
VALUE_TOKEN = re.compile(rf"{STRING}|{COMMENT}|->|[<>]=|[<({{\[>)}}\]\n]")
PARENTHESES = re.compile(rf"{STRING}|{COMMENT}|[()]")

# What stands behind the brace of a region, and never behind that of a dictionary of attributes.
_IN_REGION = re.compile(
    rf'\^|{RESULTS}["A-Za-z_]|"[^"\\\n]+"\s*[(<]'
    rf"|(?P<name>{OPERATION})(?![\w$.])(?P<blank>\s*)(?P<next>[^\s]?)"
)
_ATTRIBUTES = re.compile(r"(?<![\w.$@-])attributes\s*\{\Z")  # no symbol with this name
_TERMINATORS = frozenset(
    ("return", "yield", "terminator", "unreachable", "output", "end", "condition", "finish", "fail")
)
_NO_OPERATION = frozenset(("ro", "wo", "rw", "in", "out", "inout"))  # IREE's bindings of a dispatch
_WITH_NAMED_BODY = frozenset(("linalg.map", "linalg.reduce", "linalg.elementwise", "vector.mask"))

# Words at the beginning of a line that continue the operation above.
CONTINUES = frozenset(
    re.findall(
        r"\w+",
        """
    accumulate acquire_semantics across affinity after applies args at attributes await before
    benefit bounds by case catch clobbers clock comparator cond copy count counters counting
    default depend dim dimension dimensions dist_schedule do else enable encoding ensures
    exclusive extends final firstprivate fold_len for from gather guard high if in inclusive
    init inits inner inner_dims_pos inner_tiles ins into iter_args layout linear loc low map
    mapping max min mode nontemporal nowait num_threads on order ordered ordinal out
    outer_dims_perm output output_shape outs padding_value partition permutation posedge
    private reducer reduction repeat requires reset resets safelen schedule shape shared
    shared_outs simdlen source split step steps then threads through tile_sizes to transitions
    type types uniform unordered until using wait when where while with workgroups
    """,
    )
)

# Names without a dialect have that of the operation around them, but for those in modules.
BUILTIN = {
    "module": "builtin.module",
    "unrealized_conversion_cast": "builtin.unrealized_conversion_cast",
    "func": "func.func",  # as LLVM 13 and earlier wrote it
}
BARE = frozenset(
    ("return", "call", "call_indirect", "constant", "yield", "br", "cond_br", "module", "func")
)

# Dialects whose operations have names in full in their regions: other words continue a line there.
FULL_NAMES = frozenset(
    re.findall(
        r"\w+",
        """
    acc affine cir fir firrtl flow gpu hal hlfir hw linalg llvm memref omp scf spirv stablehlo
    stream sv tensor tosa torch tt ttg ttng util vector vm
    """,
    )
)

# Operations that define the first symbol behind their name, by the last word of the name.
DEFINES = re.compile(
    r"(?:^|[._])(?:func|module|global|executable|variant|export|import|library|pattern|sequence"
    r"|named_sequence|dialect|mesh|machine|component|class|struct|recipe|package|interface|comdat"
    r"|declare_\w+|private|GlobalVariable|SpecConstant|type_info|dispatch_table|rodata|state"
    r"|group|primitive|macro|typedecl|subgraph|alias|extmodule|circuit|layer|symbol)$"
    r"|\.(?:binary|source|global\w*|module\w*|func\w*)$"
)
HOLDS_SYMBOLS = re.compile(r"(?:module|executable|variant|library|package|circuit|^)$")
USES = re.compile(
    r"(?:call\w*|instance|launch\w*|load|store|address|addressof|dispatch|get_global|EntryPoint"
    r"|ExecutionMode\w*|include|apply_\w+)$"
)


def complete_name(dialect: str, name: str) -> str:
    """Return a name that stands without its dialect, in a region of an operation of a dialect."""
    if dialect == "builtin" or name == "module":
        return BUILTIN.get(name, f"builtin.{name}")
    return f"{dialect}.{name}"


def opens_region(text: str, at: int, operation: str) -> bool:
    """Whether the brace before a position opens a region, not a dictionary of attributes."""
    if _ATTRIBUTES.search(text, max(0, at - 20), at):
        return False
    start = SPACE.match(text, at)
    begin = start.end() if start else at
    match = _IN_REGION.match(text, begin)
    if match is None:
        return False
    name = match["name"]
    if name is None:
        return True
    following = match["next"]
    if following and following in ("=," if "." in name else "=,:"):
        return False
    if following != "}":
        return name not in _NO_OPERATION
    if name.rpartition(".")[2] in _TERMINATORS or operation in _WITH_NAMED_BODY:
        return True
    return "." in name and "\n" in text[at:begin] and "\n" in match["blank"]
