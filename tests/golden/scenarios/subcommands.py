"""The command line itself, and bisections from it."""

from __future__ import annotations

import json

from scenarios.scenario import CRASH, CSE, FOLD, RECORD_PLAIN, TENSOR, VECTOR, line, scenario


def _client(*requests: tuple[str, dict[str, object]]) -> str:
    """Return a command that writes requests of an editor, and waits for the answers."""
    messages = [
        json.dumps({"seq": at, "type": "request", "command": command, "arguments": arguments})
        for at, (command, arguments) in enumerate(requests, 1)
    ]
    words = "".join(f"Content-Length: {len(each)}\\r\\n\\r\\n{each}" for each in messages)
    return f"(printf '{words}'; sleep 3)"


_TEST = "--test 'grep -q \"constant 2\" {}'"
BISECTIONS = (
    scenario(
        "bisect-test",
        line(f"actiondbg bisect {_TEST} -o found -- {FOLD}"),
        line("cat found/report.md"),
        line("cat found/session.adb found/before.mlir found/after.mlir"),
        line("cat found/repro.sh"),
        line("sh found/repro.sh"),
        line(f"actiondbg bisect --json {_TEST} -o again -- {FOLD}"),
    ),
    scenario(
        "bisect-oracles",
        line(f"actiondbg bisect --filecheck checks.mlir -o checked -- {FOLD}"),
        line(f"actiondbg bisect --crash -o crash -- {CRASH}"),
        line(f"actiondbg bisect --diagnostic '*not bufferized*' -o diagnostic -- {TENSOR}"),
        line(f"actiondbg bisect --test true -o good -- {FOLD}"),
        line(f"actiondbg bisect --test false -o bad -- {FOLD}"),
        line(f"actiondbg bisect --test 'exit 125' -o untestable -- {FOLD}"),
        line(f"actiondbg bisect --test 'exit 127' -o error -- {FOLD}"),
        line("ls"),
    ),
    scenario(
        "bisect-modes",
        line(f"actiondbg bisect --mode minimize {_TEST} -o minimize -- {FOLD}"),
        line(f"actiondbg bisect --mode skip {_TEST} -o skip -- {FOLD}"),
        line(f"actiondbg bisect --tag fold {_TEST} -o fold -- {FOLD}"),
        line(f"actiondbg bisect --always canonicalize {_TEST} -o always -- {FOLD}"),
        line(f"actiondbg bisect --reduce {_TEST} -o reduced -- {FOLD}"),
        line("ls reduced"),
    ),
    scenario(
        "bisect-miscompile",
        line(
            "actiondbg bisect --test 'miscompiles/while-if.test {}' -- "
            "mlir-opt miscompiles/while-if.mlir --canonicalize"
        ),
        line(
            "actiondbg bisect --execute -o compared -- "
            "mlir-opt miscompiles/while-if.mlir --canonicalize"
        ),
    ),
    scenario(
        "validate",
        line("actiondbg validate -- mlir-opt miscompiles/while-if.mlir --canonicalize"),
        line("actiondbg validate -- mlir-opt fold.mlir --cse"),
        line("actiondbg validate"),
        line("actiondbg validate --timeout 0 -- mlir-opt fold.mlir --cse"),
        line("actiondbg validate none.adbrec"),
        line("actiondbg validate -- true"),
    ),
    scenario(
        "bisect-errors",
        line("actiondbg bisect"),
        line(f"actiondbg bisect -- {FOLD}"),
        line(f"actiondbg bisect --test true --crash -- {FOLD}"),
        line(f"actiondbg bisect --crash --entry f -- {FOLD}"),
        line(f"actiondbg bisect --mode bogus --crash -- {FOLD}"),
        line(f"actiondbg bisect --crash -j 0 -- {FOLD}"),
        line(f"actiondbg bisect --crash --timeout x -- {FOLD}"),
        line(f"actiondbg bisect --crash --bogus -- {FOLD}"),
        line(f"actiondbg bisect --filecheck missing.mlir -- {FOLD}"),
        line(f"actiondbg bisect --crash -o fold.mlir -- {FOLD}"),
        line(f"actiondbg bisect --crash --resume -o none -- {FOLD}"),
        line("actiondbg bisect --crash -- no-such-tool in.mlir"),
        line("actiondbg bisect --crash -- true"),
    ),
)

DAP = (
    scenario(
        "dap",
        line(
            _client(
                ("initialize", {"adapterID": "actiondbg"}),
                ("launch", {"tool": "no-such-tool"}),
            )
            + " | actiondbg dap | tr -d '\\r'"
        ),
        line("actiondbg dap --port x"),
        line("actiondbg dap --port 99999"),
        line("actiondbg dap fold.mlir"),
    ),
)

EXPLAIN = (
    scenario(
        "explain",
        line(f"actiondbg explain -- {VECTOR}"),
        line(f"actiondbg explain --left 'op:arith.*' -- {VECTOR}"),
        line(f"actiondbg explain --json -- {VECTOR}"),
        line(f"actiondbg record -q -o vector.adbrec -- {VECTOR}"),
        line("actiondbg explain vector.adbrec"),
        line("actiondbg explain"),
        line(f"actiondbg explain --left nonsense -- {VECTOR}"),
        line(f"actiondbg explain -- {FOLD}"),
    ),
)
WHATIF = (
    scenario(
        "whatif",
        line(f"actiondbg whatif -a 'pattern:AddIAddConstant off; drop cse' --diff -- {CSE}"),
        line(f"actiondbg whatif --at pass:cse -a 'append sccp' --crash -j 2 -- {CSE}"),
        line(f"actiondbg whatif --json -a 'drop cse' -- {CSE}"),
    ),
    scenario(
        "whatif-errors",
        line("actiondbg whatif"),
        line(f"actiondbg whatif -- {CSE}"),
        line(f"actiondbg whatif -a nonsense -- {CSE}"),
        line(f"actiondbg whatif -a 'drop cse' --at pass:nonsense -- {CSE}"),
        line(f"actiondbg whatif -a 'drop cse' --crash --verify -- {CSE}"),
        line("actiondbg whatif -a 'drop cse' -- no-such-tool in.mlir"),
    ),
)

COST = (
    scenario(
        "annotate",
        line(f"actiondbg record -q --lineage -o cse.adbrec -- {CSE}"),
        line("actiondbg annotate cse.adbrec"),
        line("actiondbg annotate cse.adbrec --loc-only --level function"),
        line("actiondbg annotate cse.adbrec --origin output -o own.mlir && cat own.mlir"),
        line("actiondbg annotate cse.adbrec --at cse"),
        line("actiondbg annotate cse.adbrec --origin output"),
        line(RECORD_PLAIN),
        line("actiondbg annotate plain.adbrec"),
        line("actiondbg annotate"),
    ),
    scenario(
        "cost",
        line(f"actiondbg record -q --lineage -o cse.adbrec -- {CSE}"),
        line("""echo '{"fold.mlir:8": 0.7, "fold.mlir:7": 0.2, "printf": 0.1}' > times.json"""),
        line("actiondbg cost times.json cse.adbrec"),
        line("actiondbg cost times.json cse.adbrec --all"),
        line("actiondbg cost times.json cse.adbrec --json"),
        line("""echo '{"main.c:8": 0.7}' | actiondbg cost - cse.adbrec"""),
        line("echo nothing | actiondbg cost - cse.adbrec"),
        line("actiondbg cost missing.json cse.adbrec"),
        line("actiondbg cost times.json"),
    ),
)

_LOWERED = "--input fold.mlir --then lowered.mlir"
TRACK = (
    scenario(
        "track-dumps",
        line("mlir-opt fold.mlir --convert-to-llvm --mlir-print-debuginfo -o lowered.mlir"),
        line(f"actiondbg track {_LOWERED} --from 'arith.*'"),
        line(f"actiondbg track {_LOWERED} --from @shift --nested"),
        line(f"actiondbg track {_LOWERED} --back --from llvm.return --json"),
        line(f"actiondbg track {_LOWERED} --remap %i=copy/fold.mlir --related --from %once"),
        line(
            f"actiondbg track {_LOWERED}",
            "info\nops = track(op_index.get_ops_by_type('arith.addi'))\nops\nshow(ops)\n"
            "src(track_back(ops))\ndump_infos(ops[:1], content=True)\n",
        ),
    ),
    scenario(
        "track-errors",
        line("actiondbg track"),
        line("actiondbg track --input fold.mlir --from %once"),
        line("actiondbg track --input missing.mlir --then fold.mlir --from %once"),
        line("actiondbg track --input fold.mlir --then vector.mlir --from %once"),
        line("actiondbg track --input fold.mlir --related --from %nothing"),
        line("actiondbg track --input fold.mlir --related --from fold.mlir:99"),
        line("actiondbg track --input fold.mlir --related --from addi"),
        line("actiondbg track --input fold.mlir --remap nothing=x --related --from %once"),
        line("actiondbg track --input fold.mlir --remap nothing --related --from %once"),
        line("head -5 fold.mlir | actiondbg track --input - --related --from '*'"),
        line("head -5 fold.mlir | actiondbg track --input - --partial --related --from '*'"),
        line("actiondbg track --input fold.mlir", "show(3)\n"),
    ),
)

DOCTOR = (
    scenario(
        "doctor",
        line("actiondbg doctor --static mlir-opt"),
        line("actiondbg doctor --markdown mlir-opt"),
        line("actiondbg doctor no-such-tool"),
        line("actiondbg doctor --json --markdown mlir-opt"),
        line("actiondbg doctor true"),
    ),
)

_INITIALIZE = (
    '{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": '
    '"2025-06-18", "capabilities": {}, "clientInfo": {"name": "golden", "version": "1"}}}'
)

MCP = (
    scenario(
        "mcp",
        line("actiondbg mcp --help", literal=True),
        line("actiondbg mcp mlir-opt", _INITIALIZE + "\n", literal=True),
        line("actiondbg mcp no-such-tool"),
        line("actiondbg mcp --directory missing mlir-opt"),
        line("actiondbg mcp --allow everything mlir-opt"),
        line("ACTIONDBG_MCP_TOKEN=short actiondbg mcp --http 0 mlir-opt"),
        line("actiondbg --json mcp mlir-opt"),
    ),
)

COMMAND_LINE = (
    scenario(
        "command-line-help",
        line("actiondbg --help", literal=True),
        line("actiondbg lineage --help", literal=True),
    ),
    scenario(
        "command-line-errors",
        line("actiondbg"),
        line("actiondbg --bogus"),
        line("actiondbg --version"),
        line("actiondbg --version mlir-opt"),
        line("actiondbg --batch -ex run no-such-tool"),
        line("actiondbg --batch -ex run ./fold.mlir"),
        line("actiondbg --batch -ex run -- true"),
        line("actiondbg --batch -ex run -- /bin/sh -c true"),
        line("actiondbg --batch --follow '[a' -ex run -- true"),
        line("actiondbg --batch --follow flang -ex run -ex 'info processes' -- true"),
        line("actiondbg --batch -ex run mlir-opt missing.mlir"),
        line("actiondbg --batch --return-child-result -ex run mlir-opt missing.mlir"),
        line("actiondbg --batch -ex run mlir-opt invalid.mlir"),
        line(f"actiondbg --batch -x missing.adbg {FOLD}"),
        line(f"actiondbg --batch --tool-stdout missing/out -ex run {FOLD}"),
        line(f"actiondbg --batch {FOLD}"),
        line("actiondbg open"),
        line("actiondbg connect"),
        line("actiondbg connect missing/wait"),
        line("actiondbg open missing.adbrec"),
        line("actiondbg open not-a-recording.adbrec"),
        line("actiondbg open --bogus run.adbrec"),
        line("actiondbg open fold.mlir extra"),
    ),
)

SUITES = (
    scenario(
        "suite",
        line("actiondbg suite"),
        line("actiondbg suite bogus"),
        line(f"actiondbg suite record -o suite -q -- bash -c '{FOLD} -o out.mlir; mlir-opt --cs'"),
        line("actiondbg suite list suite --missing"),
        line(
            "actiondbg query suite 'select tool, ended, status, actions, missing from runs'",
        ),
        line(
            'actiondbg query suite "select name, outcome, times from attempts where '
            "tag = 'apply-pattern' order by all limit 5\""
        ),
        line("actiondbg query suite"),
        line("actiondbg suite record -o suite -- true"),
        line("actiondbg suite record -- true"),
        line("actiondbg suite record -o new --limit much -- true"),
        line("actiondbg suite record -o new"),
        line("actiondbg suite list missing"),
        line("actiondbg suite coverage suite -n 3"),
        line("actiondbg suite coverage suite --kind pattern --only 'AddIAdd*' --json"),
        line("actiondbg suite coverage suite --kind pass --fail-under 100 --against suite"),
        line("actiondbg suite merge -o merged suite suite"),
        line("actiondbg suite merge -o merged suite"),
        line("actiondbg suite merge -o new missing"),
        line("actiondbg suite merge --help"),
        line("actiondbg suite coverage --help"),
        line("actiondbg suite list --help"),
        line("actiondbg suite record --help"),
    ),
)
