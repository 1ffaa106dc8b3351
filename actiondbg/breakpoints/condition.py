"""EXPR: the condition of a breakpoint, a small language over the fields of an action.

``or``, ``and``, ``not`` (also ``||``, ``&&``, ``!``), ``== != < <= > >=``, ``~`` and ``!~``
(text on the left, glob on the right), parentheses, integers, and text in single or double quotes.
FIELDS declares the fields. Conditions are checked here and evaluated twice: in the agent
(match/Spec.cpp), and as SQL over recordings (recording/query/filters.py). The outcome is known
after the action only; all other fields are those before it.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from typing import Literal, NamedTuple, cast

from actiondbg.errors import UsageError
from actiondbg.protocol import RESULTS, Condition, Operator
from actiondbg.support.globs import check_glob, glob_matches


class Field(NamedTuple):
    """A field of an action."""

    type: Literal["integer", "text"]  # of its values
    about: str  # what it is, for the help
    absent: int = 0  # the integer of an action that has none; a text is empty then


FIELDS = {
    "ordinal": Field("integer", "number of the action, from 1"),
    "depth": Field("integer", "number of actions around it"),
    "iteration": Field("integer", "innermost greedy iteration, from 1; -1 outside of all", -1),
    "line": Field("integer", "line of the operation's location; 0 if it has none"),
    "id": Field("integer", "id of the operation, as in @12; 0 if there is none"),
    "regions": Field("integer", "regions of the operation; -1 where that is not known", -1),
    "hits": Field("integer", "actions that matched SPEC so far, with this one"),
    "tag": Field("text", "kind of the action, such as apply-pattern"),
    "name": Field("text", "pass argument, pattern, or operation of a fold"),
    "op": Field("text", "name of the operation"),
    "file": Field("text", "file of the operation's location"),
    "func": Field("text", "symbol of the function around the operation"),
    "pass": Field("text", "the innermost pass around the action, or the action itself"),
    "context": Field("text", "MLIR context, such as c1"),
    "mlir": Field("text", "file of the MLIR, such as libtriton.so"),
    "outcome": Field("text", ", ".join(RESULTS)),
}
_ALIASES = {"function": "func"}
_SPELLINGS = {"&&": "and", "||": "or", "!": "not"}
_COMPARISONS = ("==", "!=", "<", "<=", ">", ">=", "~", "!~")
_MAX_DEPTH = 100  # the agent evaluates on the tool's stack

_TOKEN = re.compile(
    r"""\s*(?:
      (?P<integer>-?[0-9]+(?!\w))
    | (?P<text>'[^']*'|"[^"]*")
    | (?P<word>[A-Za-z_][\w.-]*)
    | (?P<operator>==|!=|<=|>=|!~|&&|\|\||[<>~!()])
    | (?P<other>\S)
    | (?P<end>$)
    )""",
    re.VERBOSE,
)

_Type = Literal["integer", "text", "truth"]
_NOUNS: dict[_Type, str] = {"integer": "an integer", "text": "a text", "truth": "a truth value"}


@dataclass(frozen=True)
class _Token:
    kind: str
    spelling: str
    offset: int

    @property
    def operator(self) -> str:
        """The operator in its canonical spelling; empty if the token is none."""
        spelling = _SPELLINGS.get(self.spelling, self.spelling)
        if self.kind == "operator" or spelling in ("and", "or", "not"):
            return "" if self.kind == "text" else spelling
        return ""


@dataclass(frozen=True)
class _Operand:
    node: Condition
    type: _Type
    offset: int


def parse_condition(text: str, outcomes: tuple[str, ...] = RESULTS) -> Condition:
    """Parse an EXPR to the tree that the agent evaluates, and check its types.

    Args:
        outcomes: the possible values of the field outcome.

    Raises:
        UsageError: a syntax or type error, with its position.
    """
    parser = _Parser(text, outcomes)
    operand = parser.either(0)
    parser.finish()
    return parser.truth(operand).node


def uses_field(condition: Condition | None, field: str) -> bool:
    """Return whether a field occurs in a condition; False for None."""
    if condition is None:
        return False
    return condition.field == field or any(uses_field(each, field) for each in condition.args or [])


def check_before_action(condition: Condition | None, what: str) -> None:
    """Check that a condition depends on nothing that follows an action, and does not count.

    Args:
        what: depends on it, the subject of a sentence.

    Raises:
        UsageError: it does.
    """
    for field in ("hits", "outcome"):
        if uses_field(condition, field):
            raise UsageError(
                f"{what} cannot depend on {field!r}, which is not known before an action: use "
                "other fields."
            )


class _Parser:
    """One method a level of precedence, from the loosest: either, both, negation, comparison."""

    def __init__(self, text: str, outcomes: tuple[str, ...]) -> None:
        self._text = text
        self._outcomes = outcomes
        self._tokens = [
            _Token(match.lastgroup or "", match[match.lastgroup or 0], match.start(match.lastindex))
            for match in _TOKEN.finditer(text)
            if match.lastindex is not None
        ]
        self._at = 0

    def either(self, depth: int) -> _Operand:
        left = self.both(depth)
        while self._accept("or"):
            left = self._call("or", left, self.both(depth))
        return left

    def both(self, depth: int) -> _Operand:
        left = self.negation(depth)
        while self._accept("and"):
            left = self._call("and", left, self.negation(depth))
        return left

    def negation(self, depth: int) -> _Operand:
        token = self._next
        if depth > _MAX_DEPTH:
            raise self._error("The condition is nested too deeply: make it simpler.", token.offset)
        if not self._accept("not"):
            return self.comparison(depth)
        operand = self.truth(self.negation(depth + 1))
        return _Operand(Condition(call="not", args=[operand.node]), "truth", token.offset)

    def comparison(self, depth: int) -> _Operand:
        left = self.operand(depth)
        token = self._next
        if token.operator not in _COMPARISONS:
            return left
        self._at += 1
        right = self.operand(depth)
        self._check_comparison(token, left, right)
        if self._next.operator in _COMPARISONS:
            raise self._error(
                "Comparisons cannot be chained: join two with and.", self._next.offset
            )
        call = cast(Operator, token.operator)
        return _Operand(Condition(call=call, args=[left.node, right.node]), "truth", left.offset)

    def operand(self, depth: int) -> _Operand:
        token = self._next
        self._at += 1
        if token.operator == "(":
            inside = self.either(depth + 1)
            if not self._accept(")"):
                raise self._error("The parenthesis is not closed.", token.offset)
            return inside
        if token.kind == "integer":
            if len(token.spelling) > 18:
                raise self._error(f"{token.spelling} is too large an integer.", token.offset)
            return _Operand(Condition(value=int(token.spelling)), "integer", token.offset)
        if token.kind == "text":
            return _Operand(Condition(value=token.spelling[1:-1]), "text", token.offset)
        if token.kind == "word" and not token.operator:
            return self._field(token)
        raise self._unexpected(token)

    def truth(self, operand: _Operand) -> _Operand:
        """Refuse an operand that is neither true nor false."""
        if operand.type != "truth":
            raise self._error(
                f"This is {_NOUNS[operand.type]}, and neither true nor false: compare it with "
                "another value.",
                operand.offset,
            )
        return operand

    def finish(self) -> None:
        if self._next.kind != "end":
            raise self._unexpected(self._next)

    def _call(self, call: Literal["and", "or"], left: _Operand, right: _Operand) -> _Operand:
        args = [self.truth(left).node, self.truth(right).node]
        return _Operand(Condition(call=call, args=args), "truth", left.offset)

    def _check_comparison(self, token: _Token, left: _Operand, right: _Operand) -> None:
        for operand in (left, right):
            if operand.type == "truth":
                raise self._error(
                    f"A truth value cannot be compared with {token.spelling!r}.", operand.offset
                )
        if token.operator in ("~", "!~"):
            for operand in (left, right):
                if operand.type != "text":
                    raise self._error(
                        f"{token.spelling!r} matches text, and this is an integer: use == to "
                        "compare it.",
                        operand.offset,
                    )
            if isinstance(right.node.value, str):
                check_glob(right.node.value, self._text, right.offset + 1)
                self._check_outcome(left, right, is_glob=True)
        elif left.type != right.type:
            raise self._error(
                f"{_NOUNS[left.type].capitalize()} cannot be compared with {_NOUNS[right.type]}.",
                right.offset,
            )
        else:
            self._check_outcome(left, right)
            self._check_outcome(right, left)

    def _check_outcome(self, field: _Operand, value: _Operand, *, is_glob: bool = False) -> None:
        """Refuse to compare the outcome with a text that it never is."""
        text = value.node.value
        if field.node.field != "outcome" or not isinstance(text, str):
            return
        if any(text == one or (is_glob and glob_matches(text, one)) for one in self._outcomes):
            return
        raise self._error(
            f"No action has the outcome {text!r}: it is {', '.join(self._outcomes[:-1])} or "
            f"{self._outcomes[-1]}.",
            value.offset,
        )

    def _field(self, token: _Token) -> _Operand:
        name = _ALIASES.get(token.spelling, token.spelling)
        if name in FIELDS:
            return _Operand(Condition(field=name), FIELDS[name].type, token.offset)
        close = difflib.get_close_matches(name, FIELDS, 1)
        remedy = f"did you mean {close[0]}, or " if close else ""
        raise self._error(
            f"There is no field {name!r}: {remedy}is it a text, which needs quotes?", token.offset
        )

    @property
    def _next(self) -> _Token:
        # The end is the last token, and stays the next one.
        return self._tokens[min(self._at, len(self._tokens) - 1)]

    def _accept(self, operator: str) -> bool:
        if self._next.operator != operator:
            return False
        self._at += 1
        return True

    def _unexpected(self, token: _Token) -> UsageError:
        if token.kind == "end":
            wanted = "The condition ends too early: expected a field, a number or a text."
            return self._error(wanted, len(self._text))
        if token.spelling in ("'", '"'):
            return self._error("The quote is not closed.", token.offset)
        if token.spelling in ("=", "&", "|"):
            return self._error(
                f"There is no operator {token.spelling!r}: write {token.spelling * 2!r}.",
                token.offset,
            )
        return self._error(f"Unexpected {token.spelling!r}.", token.offset)

    def _error(self, message: str, offset: int) -> UsageError:
        return UsageError(message, self._text, offset)
