"""One command of a plan."""

import shlex
from dataclasses import dataclass

# In a command that is printed, --uri=$EXTRACT_URL stands for what an earlier step has found out.
KEPT = "--uri=$"


@dataclass(frozen=True)
class Step:
    """Run unless `unless` succeeds; `stdin` names the variable whose value the command reads.

    With both, it is run unless `unless` prints that value. `keep_as` names what the command prints, for later steps.
    """

    what: str
    command: list[str]
    unless: list[str] | None = None
    stdin: str | None = None
    keep_as: str | None = None
    hint: str | None = None

    def as_shell(self) -> str:
        text = shell(self.command)
        if self.keep_as:
            return f"{self.keep_as}=$({text})"
        if self.unless is None:
            return text
        if self.stdin is None:
            return f"{shell(self.unless)} || {text}"
        return f'[ "$({shell(self.unless)})" = "${self.stdin}" ] || printf %s "${self.stdin}" | {text}'


def shell(command: list[str]) -> str:
    return " ".join(f'"{word}"' if word.startswith(KEPT) else shlex.quote(word) for word in command)
