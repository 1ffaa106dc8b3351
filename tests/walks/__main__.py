"""Run random walks: ``python -m tests.walks N SEED [-j JOBS] [--steps STEPS]``."""

from __future__ import annotations

import argparse
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor, as_completed

from tests.walks.case import installed_tools, prepare
from tests.walks.walk import walk


def main() -> int:
    """Run the walks of the seeds SEED to SEED + N - 1; return whether one failed."""
    parser = argparse.ArgumentParser(prog="scripts/test --walks")
    parser.add_argument("walks", type=int, metavar="N", help="how many walks")
    parser.add_argument(
        "seed", type=int, metavar="SEED", help="of the first walk; the next has SEED + 1"
    )
    parser.add_argument(
        "-j", "--jobs", type=int, default=os.cpu_count() or 1, help="walks at a time"
    )
    parser.add_argument("--steps", type=int, default=20, help="commands of a walk")
    options = parser.parse_args()
    builds = installed_tools()
    print(f"{options.walks} walks from seed {options.seed}, with {', '.join(builds)}", flush=True)
    prepare(builds)
    began, failed = time.monotonic(), 0
    with ThreadPoolExecutor(options.jobs) as pool:
        seeds = range(options.seed, options.seed + options.walks)
        runs = [pool.submit(walk, seed, options.steps, builds) for seed in seeds]
        for number, run in enumerate(as_completed(runs), 1):
            failure = run.result()
            if failure is not None:
                failed += 1
                print(failure, flush=True)
            if number % 50 == 0 or number == options.walks:
                seconds = time.monotonic() - began
                print(f"{number} walks, {failed} failed, {seconds:.0f} s", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
