"""Ask random questions about the lineages of networks, with seeds that are new each time.

Each is answered by track and by a view of all operations, such as the matrix; the two must agree.

python -m scripts.lineage_agreement --count 1000
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
from pathlib import Path

from actiondbg.tool import find_tool
from tests.fakes.lineage.agreement import NETWORKS, Agreement, network_lineage


def main() -> int:
    """Ask; print the questions whose answers differ. Returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m scripts.lineage_agreement")
    parser.add_argument("--tool", default="mlir-opt", help="the mlir-opt to run")
    parser.add_argument("--count", type=int, default=1000, help="the questions about each network")
    parser.add_argument("--seed", type=int, help="the seed, to repeat a run")
    options = parser.parse_args()
    tool = os.fspath(find_tool(options.tool).path)
    seed = random.randrange(1 << 30) if options.seed is None else options.seed
    print(f"seed {seed}")
    wrong = 0
    for name in NETWORKS:
        chance = random.Random(seed)
        with tempfile.TemporaryDirectory(prefix="actiondbg-questions-") as folder:
            lineage = network_lineage(tool, name, Path(folder))
            answers = [Agreement(lineage, exact=exact) for exact in (True, False)]
            asked = [chance.choice(answers).ask(chance) for _ in range(options.count)]
        differing = sorted({question for question, is_same in asked if not is_same})
        print(
            f"{name}: {len(asked)} questions, {len(differing)} with different answers", flush=True
        )
        for question in differing:
            print(f"  {question}", file=sys.stderr)
        wrong += len(differing)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
