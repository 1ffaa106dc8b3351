"""The oracles as options, for each command that judges runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from actiondbg import bisection
from actiondbg.commands.interpreter import completers, values
from actiondbg.commands.interpreter.declaration import UNRESTRICTED, Permission, Permissions
from actiondbg.commands.interpreter.options import Options, fields_of, flag, option
from actiondbg.errors import UsageError
from actiondbg.support.counts import joined

if TYPE_CHECKING:
    from actiondbg.bisection import Oracle

EntryResult = Literal["void", "i32", "i64", "f32"]


class OracleOptions(Options):
    """The oracles, of which one is chosen at most, and the options of ``--execute``."""

    test: str | None = option(
        "CMD",
        help="judge the output, given as {} and on stdin, by a shell command: exit status 0 is "
        "good, 1 to 124 bad, 125 untestable",
    )
    filecheck: str | None = option(
        "FILE",
        help="good if FileCheck accepts the output with the checks of FILE",
        complete=completers.files,
    )
    crash: bool = flag(help="bad if the tool crashes")
    verify: bool = flag(help="bad if the verifier rejects the IR")
    diagnostic: str | None = option(
        "GLOB", help="bad if the tool emits a diagnostic whose text matches"
    )
    execute: bool = flag(
        alias="--compare",
        help="bad if the output, lowered and executed, prints another result than the input",
    )
    validate: bool = flag(
        help="bad if the output does something else than the input, by proof or on chosen inputs"
    )
    # Options of the oracle --execute.
    lower: str | None = option(
        "PIPELINE", help="--execute: the pipeline that lowers both to the LLVM dialect"
    )
    entry: str | None = option("NAME", help="--execute: the entry function (main)")
    entry_result: EntryResult | None = option(
        help="--execute: the result type of the entry function (void)"
    )
    shared_libs: str | None = option(
        "LIB,...", help="--execute: shared libraries for mlir-runner; its own by default"
    )
    tolerance: float | None = option(
        "X",
        help="--execute: the relative or absolute tolerance of numbers (1e-5)",
        parse=values.non_negative_number,
    )
    input: str | None = option(
        "FILE",
        help="--execute and --validate: the input file, if the command line is ambiguous",
        complete=completers.files,
    )


def _execute(options: OracleOptions) -> Oracle:
    given = {name: getattr(options, name) for name in _EXECUTE_FIELDS}
    return bisection.Execute(
        **{name: value for name, value in given.items() if value is not None},
        shared_libs=tuple(options.shared_libs.split(",")) if options.shared_libs else None,
        input=Path(options.input) if options.input else None,
    )


def _validate(options: OracleOptions) -> Oracle:
    from actiondbg.recording.errors import need_packages
    from actiondbg.validation.validate_oracle import Validate

    need_packages("bisect --validate", ("numpy", "ml_dtypes", "bitwuzla"), extra="validate")
    return Validate(Path(options.input) if options.input else None)


# The oracle of each option that chooses one. Its class is imported when it is chosen.
_ORACLES: dict[str, Callable[[OracleOptions], Oracle]] = {
    "test": lambda given: bisection.Command(given.test or ""),
    "filecheck": lambda given: bisection.FileCheck(Path(given.filecheck or "")),
    "crash": lambda _: bisection.Crash(),
    "verify": lambda _: bisection.Verify(),
    "diagnostic": lambda given: bisection.Diagnostic(given.diagnostic or ""),
    "execute": _execute,
    "validate": _validate,
}
# What an oracle does beside debugging: the permission, and what needs it.
NEEDS: dict[str, tuple[Permission, str]] = {
    "test": ("shell", "The oracle test, a shell command"),
    "execute": ("execute", "The oracle execute, which runs the compiled program"),
    "validate": ("execute", "The oracle validate, which may run the compiled program"),
}
_EXECUTE_FIELDS = ("lower", "entry", "entry_result", "tolerance")  # as the oracle has them
_OWN_OPTIONS = {"execute": (*_EXECUTE_FIELDS, "shared_libs", "input"), "validate": ("input",)}


def build_oracle(options: OracleOptions, permissions: Permissions = UNRESTRICTED) -> Oracle:
    """Return the oracle that the options select.

    Raises:
        UsageError: no oracle or several are selected, or an option of another one; or it is not
            permitted.
    """
    given = _given(options, _ORACLES)
    if len(given) != 1:
        names = ", ".join(f.option for f in fields_of(OracleOptions) if f.name in _ORACLES)
        what = f"{' and '.join(given.values())} were given" if given else "none was given"
        raise UsageError(f"bisect needs one oracle, but {what}: give one of {names}.")
    return _build(options, next(iter(given)), permissions)


def optional_oracle(
    options: OracleOptions, permissions: Permissions = UNRESTRICTED
) -> Oracle | None:
    """Return the oracle that the options select, or None.

    Raises:
        UsageError: several are selected, or an option of one that is not; or it is not permitted.
    """
    given = _given(options, _ORACLES)
    if len(given) > 1:
        raise UsageError(f"{' and '.join(given.values())} exclude each other: give one of them.")
    if given:
        return _build(options, next(iter(given)), permissions)
    for name, other in _given(options, _OWN_OPTIONS["execute"]).items():
        owners = [f"--{oracle}" for oracle, own in _OWN_OPTIONS.items() if name in own]
        one = "that" if len(owners) == 1 else "one of them"
        raise UsageError(f"{other} is an option of {joined(owners)}: give {one} too.")
    return None


def _build(options: OracleOptions, oracle: str, permissions: Permissions) -> Oracle:
    if oracle in NEEDS:
        permissions.check(*NEEDS[oracle])
    others = set(_OWN_OPTIONS["execute"]).difference(_OWN_OPTIONS.get(oracle, ()))
    for other in _given(options, others).values():
        message = f"{other} is an option of --execute, but the oracle is --{oracle}."
        raise UsageError(message)
    return _ORACLES[oracle](options)


def _given(options: OracleOptions, names: Iterable[str]) -> dict[str, str]:
    """Return the fields that were given, with their names on the command line."""
    wanted = set(names)
    return {
        each.name: each.option
        for each in fields_of(OracleOptions)
        if each.name in wanted and getattr(options, each.name) != each.default
    }
