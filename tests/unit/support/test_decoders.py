"""Decoders that several threads make at once."""

from __future__ import annotations

import subprocess
import sys
import textwrap

# With msgspec's own function this ends by SIGSEGV: threads change within the first use of a type.
PROGRAM = """
import sys, threading, types
from actiondbg.support.decoders import decoder_of

sys.setswitchinterval(1e-6)
classes = [f"class A{at}(Struct):\\n  x: int\\n  y: list[A{at + 1}] | None\\n" for at in range(12)]
source = "from __future__ import annotations\\nfrom msgspec import Struct\\n"
source += "".join(classes) + "class A12(Struct):\\n  x: int\\n"
read = []
for number in range(200):
    module = types.ModuleType(f"types{number}")
    sys.modules[module.__name__] = module
    exec(source, module.__dict__)
    barrier = threading.Barrier(3)

    def decode():
        barrier.wait()
        read.append(decoder_of(module.A0).decode(b'{"x": 1, "y": [{"x": 2, "y": null}]}').y[0].x)

    threads = [threading.Thread(target=decode) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
print(len(read), set(read))
"""


def test_threads_that_make_the_decoder_of_a_type_at_once() -> None:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(PROGRAM)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "600 {2}\n", "")
