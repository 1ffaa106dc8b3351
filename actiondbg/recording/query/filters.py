"""Breakpoint specs, conditions and outcome filters as SQL over the tables of a recording.

The meaning is the agent's (Spec.cpp, Breakpoint.cpp): a filter selects an action
if ``break`` with the same words would have stopped at it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from actiondbg.breakpoints.condition import FIELDS, RESULTS, parse_condition, uses_field
from actiondbg.breakpoints.spec import parse_spec, split_spec_and_condition
from actiondbg.breakpoints.targets import split_outcome
from actiondbg.errors import UsageError
from actiondbg.protocol import Condition, Term
from actiondbg.support.globs import glob_regex, is_literal

# As `lastComponent` of the agent: the part after the last :: outside of <...>, which may nest up to
# this depth.
_NESTING = 8
_TEMPLATE = "<(?:[^<>]|" * _NESTING + "<[^<>]*>" + ")*>" * _NESTING
_LAST_COMPONENT = rf"^(?:(?:[^<>]|{_TEMPLATE})*::)?(.*)$"
_CANONICALIZE = "::canonicalize"  # a function of this name keeps its class
_ANONYMOUS = r"\(anonymous namespace\)::|\{anonymous\}::"
# A place in the text of a location; see AsmPrinter::Impl::printLocationInternal of upstream.
_PLACE = r'"((?:[^"\\]|\\.)*)":([0-9]+):([0-9]+)(?: to ([0-9]*):[0-9]+)?'
# A name in it: neither a file nor text of an opaque location.
_NAMED = r'"((?:[^"\\]|\\.)*)"(?:\(|$|[ ,)\]])'

_RESULTS = {
    "succeeded": "outcome IN ('succeeded', 'unchanged')",
    "failed": "outcome = 'failed'",
    "changed": "changed",
    "unchanged": "outcome = 'unchanged'",
    "skipped": "outcome = 'skipped'",
    "unfinished": "outcome = 'unfinished'",  # the tool ended first: no breakpoint stops there
}


# The fields of conditions that are no column of the same name.
_EXPRESSIONS = {
    "id": "operation",
    "func": "function",
    # The innermost greedy iteration around the action, or the action itself.
    "iteration": """(SELECT iterations.number FROM (
        WITH RECURSIVE inside AS (
            SELECT ordinal, CAST(substr(name, 11) AS BIGINT) AS number FROM actions
            WHERE tag = 'GreedyPatternRewriteIteration' AND name SIMILAR TO 'iteration [0-9]+'
            UNION ALL
            SELECT nested.ordinal, inside.number
            FROM actions AS nested JOIN inside ON nested.parent = inside.ordinal
            WHERE nested.tag != 'GreedyPatternRewriteIteration')
        SELECT * FROM inside) AS iterations WHERE iterations.ordinal = actions.ordinal)""",
}


def where(text: str) -> str:
    """Translate a breakpoint to SQL.

    Args:
        text: ``SPEC`` or ``SPEC if EXPR``, as ``break`` takes it.

    Returns:
        A condition for ``SELECT ... FROM actions WHERE``, never null. It uses the tables actions
        and operations of ``database.connect``.

    Raises:
        UsageError: the SPEC or the EXPR has a syntax error; it holds the position.
    """
    spec, expression = split_spec_and_condition(text)
    terms = _all_of(_term(term) for term in parse_spec(spec))
    if expression is None:
        return terms
    condition = parse_condition(expression, (*RESULTS, "unfinished"))
    if not uses_field(condition, "hits"):
        return f"({terms} AND {_truth(condition)})"
    return (
        "ordinal IN (SELECT ordinal FROM (SELECT *, row_number() OVER (ORDER BY ordinal) AS hits "
        f"FROM actions WHERE {terms}) AS actions WHERE {_truth(condition)})"
    )


def where_any(specs: Sequence[str]) -> str | None:
    """Translate the SPECs of ``--filter``, of which an action matches any; None for all actions.

    Raises:
        UsageError: as ``where``.
    """
    return " OR ".join(f"({where(spec)})" for spec in specs) or None


def where_location(text: str) -> str:
    """Translate a location filter to SQL.

    Args:
        text: ``FILE:LINE[:COL]``, ``FILE:LINE-LINE`` or ``file:FILE``.

    Raises:
        UsageError: the text is not a location.
    """
    terms = parse_spec(text)
    if any(term.kind != "location" for term in terms):
        raise UsageError(
            f"{text!r} is not a location: write FILE:LINE, FILE:LINE:COL, FILE:LINE-LINE or "
            "file:FILE."
        )
    return _all_of(_term(term) for term in terms)


def where_outcome(text: str) -> str:
    """Translate an outcome filter (of ``break --outcome``, or ``unfinished``) to SQL.

    Raises:
        UsageError: the filter has a syntax error.
    """
    words, reason = split_outcome(text, _RESULTS)
    parts = [_RESULTS[word] for word in words]
    if reason is not None:
        matching = f"SELECT ordinal FROM reasons WHERE {_matches('reason', reason)}"
        parts.append(f"ordinal IN ({matching})")
    return _any_of(parts)


def _all_of(parts: Iterable[str]) -> str:
    return f"({' AND '.join(parts)})"


def _any_of(parts: list[str]) -> str:
    return f"coalesce({' OR '.join(parts)}, false)"


def quoted(text: str) -> str:
    """Return a text as a literal of SQL."""
    return "'" + text.replace("'", "''") + "'"


# --- globs ------------------------------------------------------------------------------


def _matches(column: str, glob: str) -> str:
    """Match a text like ``Glob::matchesNow``: a text equal to the glob matches too."""
    equal = f"{column} = {quoted(glob)}"
    if is_literal(glob):
        return equal
    return f"({equal} OR regexp_full_match({column}, {quoted(glob_regex(glob))}, 's'))"


def _matches_name(column: str, glob: str) -> str:
    """Match a C++ name like ``Glob::matchesName``."""
    plain = f"regexp_replace({column}, {quoted(_ANONYMOUS)}, '', 'g')"
    function = quoted(_CANONICALIZE)
    ending = f"if(ends_with({plain}, {function}), {function}, '')"
    scope = f"left({plain}, length({plain}) - length({ending}))"
    last = f"regexp_extract({scope}, {quoted(_LAST_COMPONENT)}, 1, 's') || {ending}"
    return " OR ".join(_matches(name, glob) for name in (column, plain, last))


# --- terms ------------------------------------------------------------------------------


def _term(term: Term) -> str:
    """Translate one term of a SPEC; see ``Term`` of the agent."""
    glob = term.glob or ""
    is_pattern = f"tag = 'apply-pattern' AND ({_matches_name('full_name', glob)} OR "
    is_pattern += f"full_name = '' AND {_matches('name', glob)} OR "
    is_pattern += f"{_matches('unnamed', glob)})"
    names = f"{_matches_name('name', glob)} OR {_matches_name('full_name', glob)}"
    is_pass = f"tag = 'pass-execution' AND ({names})"
    kinds = {
        "tag": [_matches("tag", glob)],
        "pattern": [is_pattern],
        "pass": [is_pass],
        "name": [
            *(_matches("tag", glob), is_pass, is_pattern),
            *(_matches("op", glob), _matches("function", glob)),
        ],
        "fold": [f"tag = 'fold' AND {_matches('op', glob)}"],
        "op": [_matches("op", glob)],
        "func": [_matches("function", glob)],
        "context": [_matches("context", glob)],
        "mlir": [_matches("coalesce(mlir, '')", glob)],
        "in": [_inside(names, term.nth)],
        "ordinal": [f"ordinal = {term.ordinal}"],
    }
    if term.kind == "loc":
        return _named(glob)
    return _any_of(_place(term) if term.kind == "location" else kinds[term.kind])


def _named(glob: str) -> str:
    """Match a name inside the operation's location; see ``Term::matchesNames`` of the agent."""
    texts = f"regexp_extract_all(location, {quoted(_NAMED)})"
    names = f"list_transform({texts}, lambda text: regexp_extract(text, {quoted(_NAMED)}, 1))"
    found = f"len(list_filter({names}, lambda name: {_matches('name', _escaped(glob))})) > 0"
    return f"coalesce(operation IN (SELECT operation FROM operations WHERE {found}), false)"


def _inside(names: str, nth: int | None) -> str:
    """Match what runs inside a pass, at any depth; see ``Term::matchesAround`` of the agent.

    Args:
        names: the condition for the pass.
        nth: the number among the runs of that pass, None for any.
    """
    run = "" if nth is None else f" AND run = {nth}"
    return f"""ordinal IN (
        WITH RECURSIVE runs AS (
            SELECT ordinal FROM (
                SELECT *, row_number() OVER (PARTITION BY name ORDER BY ordinal) AS run
                FROM actions WHERE tag = 'pass-execution')
            WHERE ({names}){run}),
        inside AS (
            SELECT nested.ordinal FROM actions AS nested JOIN runs ON nested.parent = runs.ordinal
            UNION
            SELECT nested.ordinal
            FROM actions AS nested JOIN inside ON nested.parent = inside.ordinal)
        SELECT ordinal FROM inside)"""


def _place(term: Term) -> list[str]:
    """Match the first place of the operation's location, and all places of a compound one."""
    path = term.path or ""
    first = [_in_file("file", path)]
    inside = [_in_file("place.file", _escaped(path))]
    if term.line is not None:
        last = term.line if term.last_line is None else term.last_line
        first.append(f"line BETWEEN {term.line} AND {last}")
        end = "if(place.last = '', place.line, place.last)"
        inside.append(
            f"CAST({end} AS BIGINT) >= {term.line} AND CAST(place.line AS BIGINT) <= {last}"
        )
    if term.column is not None:
        first.append(f"col = {term.column}")
        inside.append(f"CAST(place.col AS BIGINT) = {term.column}")
    texts = f"regexp_extract_all(location, {quoted(_PLACE)})"
    parts = f"regexp_extract(text, {quoted(_PLACE)}, ['file', 'line', 'col', 'last'])"
    places = f"list_transform({texts}, lambda text: {parts})"
    found = f"len(list_filter({places}, lambda place: {_all_of(inside)})) > 0"
    return [_all_of(first), f"operation IN (SELECT operation FROM operations WHERE {found})"]


def _in_file(column: str, path: str) -> str:
    """Match by suffix of path components, like ``Term::matchesFile``."""
    return f"({column} = {quoted(path)} OR ends_with({column}, {quoted('/' + path)}))"


def _escaped(path: str) -> str:
    """Escape a path as in the text of a location (``llvm::printEscapedString``)."""
    return "".join(
        "\\\\"
        if byte == ord("\\")
        else chr(byte)
        if 0x20 <= byte < 0x7F and byte != ord('"')
        else f"\\{byte:02X}"
        for byte in path.encode(errors="surrogateescape")
    )


# --- conditions -------------------------------------------------------------------------


def _truth(condition: Condition) -> str:
    """Translate a condition; see ``Condition::holds`` of the agent."""
    call, args = condition.call, condition.args or []
    if call == "not":
        return f"(NOT {_truth(args[0])})"
    if call in ("and", "or"):
        return f"({_truth(args[0])} {call.upper()} {_truth(args[1])})"
    left, right = _value(args[0]), _value(args[1])
    text = args[1].value
    if args[0].field == "name" and isinstance(text, str) and text.startswith("<unnamed"):
        left = "if(full_name = '', name, coalesce(unnamed, ''))"
    if call not in ("~", "!~"):
        return f"({left} {'=' if call == '==' else call} {right})"
    glob = args[1].value
    matched = _matches(left, glob) if isinstance(glob, str) else f"{left} GLOB {right}"
    return f"({'NOT ' * (call == '!~')}({matched}))"


def _value(condition: Condition) -> str:
    if condition.field is not None:
        return _field(condition.field)
    return (
        str(condition.value) if isinstance(condition.value, int) else quoted(condition.value or "")
    )


def _field(name: str) -> str:
    """Return a field of a condition; never null, as a comparison is true or false."""
    declared = FIELDS[name]
    absent = "''" if declared.type == "text" else declared.absent
    return f"coalesce({_EXPRESSIONS.get(name, name)}, {absent})"
