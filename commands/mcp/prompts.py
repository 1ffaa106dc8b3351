"""Prompts: how to go about the three usual jobs with the tools."""

from __future__ import annotations

from typing import NamedTuple


class Prompt(NamedTuple):
    """A prompt.

    Args:
        about: one sentence for the user who chooses it.
        arguments: the names of the arguments with what each is; the first is required.
        text: the text, in which arguments are named as in str.format.
    """

    name: str
    about: str
    arguments: dict[str, str]
    text: str

    def filled(self, given: dict[str, str]) -> str:
        """Return the text; raises KeyError without the first argument."""
        first = next(iter(self.arguments))
        values = {name: given.get(name) or "(not given)" for name in self.arguments}
        return self.text.format_map(values | {first: given[first]})


_COMMAND = "the compiler's command line, such as mlir-opt in.mlir --canonicalize"
PROMPTS = {
    each.name: each
    for each in (
        Prompt(
            "miscompile",
            "Find the action of the compiler that makes a program wrong",
            {"command": _COMMAND, "symptom": "what is wrong with the output"},
            """\
A program is compiled wrongly by: {command}
Symptom: {symptom}

Find the action (a pattern application, a fold or a pass) that is to blame, and explain its fault.
1. Call bisect with the command and an oracle: execute if the input is a program whose main prints
   its result; else verify, crash, diagnostic or filecheck. Give output, so that a reproducer is
   written. If no oracle fits, say which one would and ask the user.
2. The result names an action #N. open the same command, then run with to '#N'.
3. show_ir with what 'around', then step with unit 'action', then changes: compare the operations
   before and after. Use history for where an operand came from.
4. Confirm: run with to '#N' again, then skip. The output must be right without the action.
5. Answer with the pattern or pass, the IR before and after, the rule that it breaks, and the path
   of the reproducer.
""",
        ),
        Prompt(
            "failed_legalization",
            "Explain 'failed to legalize operation' of a dialect conversion",
            {"command": _COMMAND},
            """\
A dialect conversion fails in: {command}

Explain why, and what would make it work.
1. open the command, set_breakpoint with kind 'catch' and what 'failure', and run: it stops where
   the pass fails.
2. explain: it shows the operation that was not legalized, the patterns that were tried, and what
   each lacked. With all it shows every pattern.
3. For a pattern that should have applied, why_not with its name; for a type that was not converted,
   history of the operand.
4. If a pass that would legalize it is missing, check it with whatif: 'insert PASS before PASS'.
5. Answer with the operation, the cause, and the change of the pipeline or of the input.
""",
        ),
        Prompt(
            "pattern_does_not_fire",
            "Find out why a pattern does not apply where it should",
            {
                "pattern": "the name of the pattern",
                "command": _COMMAND,
                "place": "where it should apply, such as in.mlir:12",
            },
            """\
The pattern {pattern} does not apply. Command: {command}. Place: {place}

Find out why.
1. open the command and run to the end.
2. why_not with the pattern, and where if a place is given: it lists the attempts and the reason of
   each failure, or names similar patterns if there was none.
3. Without any attempt: the command 'info pipeline' shows the passes, and 'info patterns' the
   patterns of the run: perhaps no pass has the pattern, or another one changed the operation first.
   history of the operation shows that.
4. With failures: run with to '#N' of one of them, show_ir around it, and compare with the condition
   in the reason.
5. If another pattern was first, check it with whatif: 'pattern:OTHER off'.
6. Answer with the condition that failed, the IR that shows it, and what would satisfy it.
""",
        ),
    )
}

INSTRUCTIONS = """\
Debugger for MLIR compilers (mlir-opt and relatives). A compilation is a sequence of actions,
numbered #1, #2, ... the same in each run: passes, greedy iterations, pattern applications, folds. A
session stops before or after an action; operations have ids, @12, for their whole life. Begin with
open (one command line) or with bisect (which action breaks the output?). run goes to a SPEC or to
an action by number, also backwards; step, show_ir and changes look closely; why_not, explain and
history answer questions about the run so far; whatif and skip try what would happen otherwise. A
SPEC is such as pattern:Fold*, pass:cse, fold:arith.addi, op:scf.while, in.mlir:12 or func:main,
joined by 'and'. Messages name commands of the debugger's shell in quotes, such as 'info patterns':
the tool command runs them.
""".replace("\n", " ").strip()
