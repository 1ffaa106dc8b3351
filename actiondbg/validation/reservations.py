"""What an action relies on, allows or changes, and neither runs nor proofs see."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest

from actiondbg.validation.domain import fast_math, is_set, overflow_flags
from actiondbg.validation.program import (
    Attribute,
    Dense,
    Function,
    Module,
    OpaqueAttribute,
    Operation,
    OtherNaN,
    Symbol,
    Value,
    called,
    references,
    walk,
)
from actiondbg.validation.scalar_operations import BY_NAME
from actiondbg.validation.types import INDEX, FloatType, IntegerType, ShapedType, Type

_MAKING = frozenset({"memref.alloc", "memref.alloca", "memref.realloc", "llvm.alloca"})
# Their order says what other threads may see.
_ACCESS = re.compile(r"load|store|copy|transfer|gather|scatter|\.mem|call")
_ATOMIC = re.compile(r"llvm\.(?:fence|atomicrmw|cmpxchg)|memref\.(?:generic_)?atomic_rmw")
# By which results may be poison, or accesses undefined.
_FLAGS = (
    *("exact", "nneg", "nonNeg", "disjoint", "is_zero_poison", "is_int_min_poison"),
    *("invariant", "invariantGroup", "dereferenceable", "noalias_scopes", "alias_scopes", "tbaa"),
)
_FREEING = frozenset(
    {"memref.dealloc", "bufferization.dealloc", "bufferization.dealloc_tensor", "memref.realloc"}
)
_ELIDED = "<__elided__>"
# Where they give a NaN it may be any one, whatever NaN they are given.
_ARITHMETIC = frozenset(
    {"addf", "subf", "mulf", "divf", "remf", "cmpf", "maximumf", "minimumf", "maxnumf", "minnumf"}
)
_FREEZE = "llvm.freeze"
_POISON = re.compile(r"ub\.poison|llvm\.mlir\.(?:poison|undef)")
# It says that a condition holds, or that nothing comes there.
_ASSUMING = re.compile(r"llvm\.intr\.assume|(?:ub|llvm)\.unreachable")
# Of an argument, a result or a function: what later passes rely on, or how it is called.
_SAYING = re.compile(
    r"(?:llvm|bufferization|tt)\.(?!align$|emit_c_interface$)\w+|passthrough|memory_effects"
    r"|\w*no_?unwind|will_return|no_?return|\w+_fp_math\w*|fp_contract|personality"
)
_CALLED_BY = re.compile(
    r"(?:llvm\.)?(?:zeroext|signext|byval|byref|sret|struct_ret|inreg|inalloca|preallocated|nest)"
    r"|bufferization\.(?:writable|access)|CConv"
)
_LLVM_GLOBAL = "llvm.mlir.global"
_POINTER = "llvm.getelementptr"
_ASSEMBLY = "llvm.inline_asm"


def reservation(
    before: Module,
    after: Module,
    symbol: str,
    *,
    is_proved: bool,
    is_run: bool,
    has_specials: bool = True,
) -> str:
    """Return what is not seen of a function that seems to be equivalent, in words; "" if nothing.

    Args:
        before: the module before the action.
        after: the module after it.
        symbol: the function.
        is_proved: whether it is proved. The interpreter knows no addresses, nor threads.
        is_run: whether nothing but real runs was compared. They know no poison, and no memory but
            that of memrefs.
        has_specials: whether inputs had NaNs and infinities.
    """
    source, target = (list(called(module, symbol)) for module in (before, after))
    needed = max(map(_unmet_alignment, target), default=0)
    if needed > max(map(_unmet_alignment, source), default=0):
        return f"if memory is aligned to {needed} bytes as the action says"
    hidden = _hidden_global(before, after, (*source, *target), is_proved=is_proved)
    if hidden:
        return f"but nothing shows the memory of @{hidden}"
    all_before, all_after = (
        [inner for each in one for inner in walk(each.operation)] for one in (source, target)
    )
    said = _said_of_functions(before, after, symbol, [each.symbol for each in (*source, *target)])
    if said:
        return said
    if _are_shared_otherwise(all_before, all_after):
        return "but nothing shows what other threads see of atomic and volatile accesses"
    if not is_run and _has_other_nans(all_before, all_after):
        return "but the program has other NaN constants after the action"
    if is_proved:
        return ""
    allowed = {flag for each in all_before for flag in fast_math(each.attributes)}
    flags = {flag for each in all_after for flag in fast_math(each.attributes)} - allowed
    flags |= _added(all_before, all_after, lambda each: fast_math(each.attributes))
    if has_specials and not is_run:  # the interpreter knows poison
        flags -= {"nnan", "ninf"}
    if flags:
        return f"but the action allows other results ({', '.join(sorted(flags))})"
    return _unseen_by_real_runs(all_before, all_after) if is_run else ""


def _hidden_global(
    before: Module, after: Module, functions: Iterable[Function], *, is_proved: bool
) -> str:
    """Return the name of a global that a function may change, and that nobody compares; or ""."""
    for name in sorted({name for each in functions for name in references(each.operation)}):
        kinds = [
            "" if each is None or each.attributes.get("constant") else each.name
            for each in (module.others.get(name) for module in (before, after))
        ]
        if _LLVM_GLOBAL in kinds and not (is_proved and kinds[0] == kinds[1]):
            return name
    return ""


def _said_of_functions(before: Module, after: Module, symbol: str, names: Iterable[str]) -> str:
    """Return what the action says of functions that nothing in them shows, in words; or ""."""
    if _is_hidden(after.functions[symbol].operation) > _is_hidden(
        before.functions[symbol].operation
    ):
        return "but it becomes private, and nobody knows who else calls it"
    for name in sorted(set(names)):
        source, target = before.functions.get(name), after.functions.get(name)
        if source is None or target is None:
            continue
        is_retyped = (source.inputs, source.operation.name) != (
            target.inputs,
            target.operation.name,
        )
        for old, new in _attribute_lists(source, target):
            said = _said(old, new, is_retyped=is_retyped)
            if said:
                return f"but the action says something else of @{name} ({', '.join(sorted(said))})"
    return ""


def _is_hidden(function: Operation) -> bool:
    """Whether only the module sees a function."""
    linkage = str(function.attributes.get("linkage"))
    is_local = any(word in linkage for word in ("private", "internal"))
    return is_local or function.attributes.get("sym_visibility") == "private"


def _attribute_lists(
    source: Function, target: Function
) -> Iterator[tuple[Mapping[str, Attribute], Mapping[str, Attribute]]]:
    """Yield the attributes of two functions, then of each argument and result, before and after."""
    attributes = source.operation.attributes, target.operation.attributes
    yield attributes
    for kind in ("arg_attrs", "res_attrs"):
        old, new = (_maps(each.get(kind)) for each in attributes)
        nothing: Mapping[str, Attribute] = {}
        yield from zip_longest(old, new, fillvalue=nothing)


def _maps(attribute: Attribute | None) -> list[Mapping[str, Attribute]]:
    found = attribute if isinstance(attribute, tuple) else ()
    return [each if isinstance(each, Mapping) else {} for each in found]


def _said(
    old: Mapping[str, Attribute], new: Mapping[str, Attribute], *, is_retyped: bool
) -> set[str]:
    """Return the attributes that say more than before, or how to call it otherwise."""
    changed = {each for each in {**old, **new} if old.get(each) != new.get(each)}
    said = {each for each in changed if each in new and _SAYING.fullmatch(each)}
    if is_retyped:
        return {each for each in said if not _CALLED_BY.fullmatch(each)}
    return said | {each for each in changed if _CALLED_BY.fullmatch(each)}


def _has_other_nans(before: Sequence[Operation], after: Sequence[Operation]) -> bool:
    """Whether a NaN with a sign or a payload whose bits may be seen is on one side only.

    Proofs and the interpreter take all NaNs for one.
    """
    (used_before, seen_before), (used_after, seen_after) = _nans(before), _nans(after)
    # What only arithmetic uses may be folded, and be seen then; loops hide that only it does.
    return not (seen_after <= used_before and seen_before <= used_after)


def _nans(operations: Sequence[Operation]) -> tuple[set[str], set[str]]:
    """Return the NaNs with a sign or a payload that are used, and those not only by arithmetic."""
    users: dict[Value, set[str]] = {}
    for each in operations:
        for operand in each.operands:
            users.setdefault(operand, set()).add(each.name)
    used, seen = set[str](), set[str]()
    for each in operations:
        found = set(_nans_of(each))
        names = {name for result in each.results for name in users.get(result, ())}
        if found and (names or not each.results):
            used |= found
            seen |= set() if names and all(map(_makes_any_nan, names)) else found
    return used, seen


def _nans_of(operation: Operation) -> Iterator[str]:
    for value in operation.attributes.values():
        for each in value.values if isinstance(value, Dense) else (value,):
            if isinstance(each, OtherNaN):
                yield repr(each)


def _makes_any_nan(name: str) -> bool:
    return name in BY_NAME and BY_NAME[name].name in _ARITHMETIC


def _are_shared_otherwise(before: Sequence[Operation], after: Sequence[Operation]) -> bool:
    """Return whether other threads may see other accesses, where some are atomic or volatile.

    An atomic change of a memref orders no other accesses, by its documentation, and may be left out
    where it changes nothing, but it may not become a load and a store. Accesses of ``llvm`` have an
    order.
    """
    found = [[word for one in each if (word := _access(one))] for each in (before, after)]
    if not all(set(each) <= {"access", "atomic"} for each in found):
        return found[0] != found[1]
    counts = [Counter(each) for each in found]
    return counts[1]["atomic"] < counts[0]["atomic"] and counts[1]["access"] > counts[0]["access"]


def _access(operation: Operation) -> str:
    name, attributes = operation.name, operation.attributes
    if name.startswith("memref.") and _ATOMIC.fullmatch(name):
        return "atomic"  # one of these may become another one
    if _ATOMIC.fullmatch(name) or attributes.get("ordering") or attributes.get("volatile_"):
        kept = {key: value for key, value in attributes.items() if key != "alignment"}
        return f"{name} {sorted(kept.items(), key=lambda item: item[0])}"
    return "access" if _ACCESS.search(name) else ""


def _added(
    before: Sequence[Operation],
    after: Sequence[Operation],
    flags_of: Callable[[Operation], frozenset[str]],
) -> set[str]:
    """Return flags that more operations of a name have, though there are no more of these."""
    named = [Counter(each.name for each in one) for one in (before, after)]
    flagged = [
        Counter((each.name, flag) for each in one for flag in flags_of(each))
        for one in (before, after)
    ]
    return {
        flag
        for (name, flag), count in flagged[1].items()
        if count > flagged[0][name, flag] and named[1][name] <= named[0][name]
    }


def _unseen_by_real_runs(before: Sequence[Operation], after: Sequence[Operation]) -> str:
    flags = _added(before, after, _poison_flags)
    if flags:
        return f"but the action says more of values ({', '.join(sorted(flags))})"
    frozen = [sum(each.name == _FREEZE for each in one) for one in (before, after)]
    # What is undefined may become any number, and not poison.
    open_values = [[each.name for each in one if _is_poison(each)] for one in (before, after)]
    poison = [sum(name.endswith("poison") for name in one) for one in open_values]
    is_more = len(open_values[0]) < len(open_values[1]) or poison[0] < poison[1]
    if frozen[0] != frozen[1] or is_more:
        return "but no run shows what is poison"
    undefined = [_may_be_undefined(one) for one in (before, after)]
    if undefined[0] < undefined[1]:
        return "but no run shows what is undefined"
    pointers = [
        Counter(str(each.attributes) for each in one if each.name == _POINTER)
        for one in (before, after)
    ]
    if pointers[0] and pointers[1] - pointers[0]:
        return "but no run checks that pointers stay in their memory"
    if _assembly_with_effects(before) != _assembly_with_effects(after):
        return "but no run shows what else assembly does"
    return ""


def _assembly_with_effects(operations: Sequence[Operation]) -> Counter[str]:
    """Count assembly that does more than to compute its results, by its text and its flags."""
    return Counter(
        str(sorted(each.attributes.items(), key=lambda item: item[0]))
        for each in operations
        if each.name == _ASSEMBLY and is_set(each.attributes, "has_side_effects")
    )


def _may_be_undefined(operations: Sequence[Operation]) -> int:
    """Count operations that may be undefined, without an access of memory."""
    safe = {
        result
        for each in operations
        if not each.operands and _divides_all(each.attributes.get("value"))
        for result in each.results
    }
    divisions = [each for each in operations if each.name in BY_NAME and _is_division(each)]
    unsafe = sum(each.operands[1] not in safe for each in divisions)
    return unsafe + sum(_ASSUMING.fullmatch(each.name) is not None for each in operations)


def _divides_all(value: Attribute | None) -> bool:
    """Whether a division by a constant is defined for all numbers."""
    values = value.values if isinstance(value, Dense) else (value,)
    return all(isinstance(each, int) and each not in (0, -1) for each in values)


def _is_division(operation: Operation) -> bool:
    known = BY_NAME[operation.name]
    return known.is_division or known.name == "ipowi"


def _poison_flags(operation: Operation) -> frozenset[str]:
    attributes = operation.attributes
    found = frozenset(name for name in _FLAGS if is_set(attributes, name))
    return overflow_flags(attributes) | found


def _is_poison(operation: Operation) -> bool:
    """Whether an operation makes a scalar that is poison, or any number; aggregates begin so."""
    is_scalar = all(isinstance(each.type, IntegerType | FloatType) for each in operation.results)
    return is_scalar and _POISON.fullmatch(operation.name) is not None


# --- what real runs cannot compare ---


def has_elided(module: Module, symbol: str) -> bool:
    """Whether elements are elided in a function, or in what it and its callees refer to."""
    tops = [each.operation for each in called(module, symbol)]
    tops += [each for top in tops for name in references(top) if (each := module.others.get(name))]
    return any(
        isinstance(value, OpaqueAttribute) and _ELIDED in value.text
        for top in tops
        for inner in walk(top)
        for value in inner.attributes.values()
    )


def frees_others(function: Function) -> bool:
    """Whether a function may free what it is given: nobody knows then what is there."""
    own: set[Value] = set()
    for operation in walk(function.operation):
        if operation.name == "memref.alloc":
            own.update(operation.results)
        is_free = operation.attributes.get("callee") == Symbol(("free",))
        if is_free or (operation.name in _FREEING and not own.issuperset(operation.operands)):
            return True
    return False


# --- alignment ---


def _unmet_alignment(function: Function) -> int:
    """Return the largest alignment that a function relies on, and does not see made; 0 if none.

    Elements are aligned to their own size, unless their memory is made with less.
    """
    operations = list(walk(function.operation))
    made = {
        result: _number(each.attributes.get("alignment"))
        for each in operations
        if each.name in _MAKING
        for result in each.results
    }
    arguments = function.operation.attributes.get("arg_attrs", ())
    found: list[int] = []
    if isinstance(arguments, tuple):
        maps = [each for each in arguments if isinstance(each, Mapping)]
        found += [_number(each.get("llvm.align")) for each in maps]
    for operation in operations:
        if operation.name in _MAKING:
            continue
        alignment = _number(operation.attributes.get("alignment"))
        known = [made[value] for value in operation.operands if value in made]
        if alignment > next(filter(None, known), _element_bytes(operation)):
            found.append(alignment)
    return max(found, default=0)


def _number(attribute: Attribute | None) -> int:
    return attribute if isinstance(attribute, int) else 0


def _element_bytes(operation: Operation) -> int:
    """Return the size of the elements that an operation loads or stores."""
    types = [value.type for value in (*operation.operands, *operation.results)]
    kinds = [
        each.element if isinstance(each, ShapedType) else each for each in types if each != INDEX
    ]
    return max(map(_bits, kinds), default=0) // 8


def _bits(type: Type) -> int:
    if isinstance(type, FloatType):
        return int(re.sub(r"^\D+(\d+).*", r"\1", type.name))
    return type.width if isinstance(type, IntegerType) else 0
