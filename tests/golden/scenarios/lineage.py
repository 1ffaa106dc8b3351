"""What operations of a program became: at a stop, and questions about all of them."""

from __future__ import annotations

from scenarios.scenario import FOLD, RECORD_PLAIN, line, scenario, session

_TOOL = (
    "mlir-opt convolutions.mlir --pass-pipeline='builtin.module(func.func(tosa-to-linalg-named,"
    "tosa-to-linalg),canonicalize,cse)'"
)
_GROUPS = "--kind tosa.conv2d --became tensor.pad"
_DUMPS = "--input fold.mlir --then b.mlir --then c.mlir"

LINEAGE = (
    scenario(
        "shell-lineage",
        session(
            FOLD,
            """\
track
break AddIAddConstant
run
cursor-goto %twice
track
track --to canonicalize
track --to nosuch
track --to #1
track --to #99
track %0
track @shift
track @shift --nested --level function
track fold.mlir:5
track fold.mlir:99
track arith.constant --exact
track @99
track @nothing
track-back
related
lineage
lineage --svg lineage.svg
lineage %1 --dot lineage.dot --html lineage.html
shell cat lineage.dot
continue
track-back arith.addi
track arith.addi
track @5 --to cse
""",
        ),
    ),
    scenario(
        "lineage",
        line(f"actiondbg record --lineage -q -o run.adbrec -- {_TOOL} -o out.mlir"),
        line(f"actiondbg lineage run.adbrec {_GROUPS}"),
        line(f"actiondbg lineage run.adbrec {_GROUPS} --json"),
        line("actiondbg lineage run.adbrec --kinds 'tosa.*'"),
        line(f"actiondbg lineage --kinds 'tosa.*' -- {_TOOL}"),
        line("actiondbg lineage run.adbrec --orphans --loss --fail-on-orphan --fail-on-loss"),
        line("actiondbg lineage run.adbrec"),
        line(
            "actiondbg lineage run.adbrec 'select evidence, action, count(*) as n from steps "
            "group by all order by all'"
        ),
        line("actiondbg lineage run.adbrec --matrix m.csv --level loop && head -4 m.csv"),
        line("actiondbg lineage run.adbrec --of tosa.clamp --dot clamp.dot && cat clamp.dot"),
        line("actiondbg lineage run.adbrec --sankey s.svg --after tosa-to-linalg-named"),
        line("grep -o '>[^<]*</text>' s.svg"),
    ),
    scenario(
        "lineage-of-dumps",
        line("mlir-opt fold.mlir --canonicalize --mlir-print-debuginfo -o b.mlir"),
        line("mlir-opt b.mlir --convert-arith-to-llvm --mlir-print-debuginfo -o c.mlir"),
        line(f"actiondbg lineage {_DUMPS} --kinds '*'"),
        line(f"actiondbg lineage {_DUMPS} --kind arith.addi --became llvm.add"),
        line(f"actiondbg lineage {_DUMPS} --fail-on-orphan"),
        line(f"actiondbg lineage {_DUMPS} --orphans --allow-orphan 'arith.*' --json"),
        line(f"actiondbg lineage {_DUMPS} 'select name, source_line from output'"),
        line(f"actiondbg lineage {_DUMPS} --loss"),
        line("actiondbg lineage --input fold.mlir"),
        line("actiondbg lineage --input fold.mlir --then missing.mlir"),
        line("actiondbg lineage --input fold.mlir --then mixed.mlir --kinds '*'"),
    ),
    scenario(
        "lineage-errors",
        line(RECORD_PLAIN),
        line("actiondbg lineage plain.adbrec"),
        line("actiondbg lineage missing.adbrec"),
        line("actiondbg lineage not-a-recording.adbrec"),
        line("actiondbg lineage fold.mlir"),
        line("actiondbg lineage"),
        line(f"actiondbg lineage {_DUMPS} --kind arith.addi"),
        line("actiondbg lineage plain.adbrec --matrix m.txt"),
        line("actiondbg lineage plain.adbrec --of fold.mlir:8"),
        line("actiondbg lineage plain.adbrec 'select 1' 'select 2'"),
        line("actiondbg lineage -- no-such-tool"),
        line("actiondbg lineage --kinds '*' -- true"),
    ),
)
