"""The placeholder ``{}`` in a shell command, which stands for the output file."""

from __future__ import annotations

from collections.abc import Iterator

_PLACEHOLDER = "{}"


def with_variable(command: str, name: str) -> str:
    """Replace the placeholders in a shell command by an environment variable.

    Its value may have any characters: how the variable is quoted depends on the quotes around.
    """
    variables = {'"': f"${{{name}}}", "'": f"'\"${name}\"'"}
    parts: list[str] = []
    end = 0
    for place, quote in _placeholders(command):
        parts += [command[end:place], variables.get(quote, f'"${name}"')]
        end = place + len(_PLACEHOLDER)
    return "".join([*parts, command[end:]])


def _placeholders(command: str) -> Iterator[tuple[int, str]]:
    """Find the placeholders; yield their places, and the innermost quote or bracket around."""
    around = [""]  # open quotes, and the ends of open brackets
    place = 0
    while place < len(command):
        char, inner = command[place], around[-1]
        is_word_start = place == 0 or command[place - 1] in " \t\n;|&("
        if command.startswith(_PLACEHOLDER, place):
            yield place, inner
            place += 1
        elif inner == "'":
            if char == "'":
                around.pop()
        elif char == "\\":
            place += 1
        elif char == inner:
            around.pop()
        elif char == "#" and inner != '"' and is_word_start:
            place = command.find("\n", place) % (len(command) + 1)
        elif command.startswith("$(", place) or (char == "(" and inner != '"'):
            around.append(")")
            place += char == "$"
        elif char in '"`' or (char == "'" and inner != '"'):
            around.append(char)
        place += 1
