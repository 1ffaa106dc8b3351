# Follows a function from its first instruction to its return, and prints its last decisions as
# JSON. Not by lines: in optimized code several returns share one, and the condition is exact.
python
import json
import re

import gdb

MOST, SHOWN = 20000, 50
CALL, BRANCH = re.compile(r"\s*(?:bnd\s+)?call"), re.compile(r"\s*(?:bnd\s+)?j(?!mp)")
SYMBOL = re.compile(r"<(.*?)(?:@plt)?(?:\+\d+)?>")


def register(name):
    return int(gdb.parse_and_eval("$" + name)) & (1 << 64) - 1


def line():
    """Return the file and the line in the function itself, where code of others is inlined."""
    frame = gdb.selected_frame()
    while frame.type() == gdb.INLINE_FRAME:
        frame = frame.older()
    sal = frame.find_sal()
    return [sal.symtab.fullname(), sal.line] if sal.symtab and sal.line else None


def symbol(pc):
    """Return the nearest symbol and the offset in it."""
    text = gdb.execute(f"info symbol {pc:#x}", to_string=True)
    found = re.match(r"(.*?)(?: \+ (\d+))? in section", text)
    return [found[1], int(found[2] or 0)] if found else None


def demangled(name):
    try:
        return gdb.execute(f"demangle -l c++ -- {name}", to_string=True).strip()
    except gdb.error:  # it is not mangled
        return name


def follow():
    stack = register("sp")
    branches, call, last = [], None, line()
    for _ in range(MOST):
        pc = register("pc")
        text = gdb.selected_frame().architecture().disassemble(pc)[0]["asm"]
        if BRANCH.match(text):
            branches.append((pc, line()))
        elif CALL.match(text) and (found := SYMBOL.search(text)):
            call = found[1]
        last = line() or last
        gdb.execute("nexti", to_string=True)
        if register("sp") > stack:
            return {
                "returned": True,
                "branches": [[pc, symbol(pc), at] for pc, at in branches[-SHOWN:]],
                "call": call and demangled(call),
                "last": last,
            }
    return {"returned": False}


def report():
    try:
        entry = register("pc")
        gdb.execute("delete", to_string=True)
        return {"entry": entry, **follow()}
    except gdb.error as error:
        return {"error": str(error)}


print("\nactiondbg: " + json.dumps(report()))
end
