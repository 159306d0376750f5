"""``pollwait completion``: what lets a shell complete commands, services, waiters and parameters.

The printed script asks this command for the words that fit, so it never is out of date. All comes
from botocore's files: no client is made.
"""

from __future__ import annotations

import argparse
import re
from typing import TYPE_CHECKING, Any

from ._errors import UsageError
from ._exit_codes import READY
from .aws import invocation

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from .aws.parameters import Parameter

_SCRIPTS = {
    "bash": """\
_pollwait() {
    local IFS=$'\\n'
    COMPREPLY=($("$1" complete-words "$COMP_CWORD" "${COMP_WORDS[@]}" 2>/dev/null))
}
complete -o default -F _pollwait pollwait
""",
    "zsh": """\
#compdef pollwait
_pollwait() {
    local -a found
    found=(${(f)"$("${words[1]}" complete-words $((CURRENT - 1)) "${words[@]}" 2>/dev/null)"})
    if (( ${#found} )); then compadd -- "${found[@]}"; else _files; fi
}
if [[ ${funcstack[1]} == _pollwait ]]; then _pollwait "$@"; else compdef _pollwait pollwait; fi
""",
    "fish": """\
function __pollwait_words
    set -l before (commandline -opc)
    set -l words (count $before) $before (commandline -ct)
    set -l found ($before[1] complete-words $words 2>/dev/null)
    if count $found >/dev/null
        printf '%s\\n' $found
    else
        __fish_complete_path (commandline -ct)
    end
end
complete --command pollwait --no-files --arguments '(__pollwait_words)'
""",
}
_DESCRIPTION = """\
Print a script that lets a shell complete the words of pollwait. In ~/.bashrc, ~/.zshrc (after
compinit) or ~/.config/fish/config.fish:

  eval "$(pollwait completion bash)"
  eval "$(pollwait completion zsh)"
  pollwait completion fish | source"""

ASK = "complete-words"  # what the scripts call; no command for people

_OPTION = re.compile(r"^  (?:-\w, )?(--[a-z][\w-]*)", re.MULTILINE)  # in the help of a command


def add_to(commands: Any) -> None:
    """Add the command to the parser's commands."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "completion",
        usage="pollwait completion {bash,zsh,fish}",
        help="print a script that lets a shell complete pollwait's words",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("shell", choices=_SCRIPTS, metavar="SHELL", help="bash, zsh or fish")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the script of a shell."""
    print(end=_SCRIPTS[options.shell])  # noqa: T201 - a command line talks
    return READY


def answer(commands: Mapping[str, argparse.ArgumentParser], words: Sequence[str]) -> int:
    """Print the words that a script asks for.

    Args:
        commands: the parser of each command.
        words: the index of the word to complete, and all words of the line.

    Raises:
        UsageError: they are not.
    """
    if not words or not words[0].isdecimal():
        raise UsageError(f"{ASK} is for the scripts that pollwait completion prints")
    index, *line = words
    for word in completions(commands, line, int(index)):
        print(word)  # noqa: T201
    return READY


def completions(
    commands: Mapping[str, argparse.ArgumentParser], line: Sequence[str], index: int
) -> list[str]:
    """Return the words that may stand in some place of a command line.

    Args:
        commands: the parser of each command.
        line: its words, that of the program first.
        index: which one is to be completed; beyond the last for a new one.

    Returns:
        The words; none where the name of a file, or anything else, may stand.
    """
    before, current = line[1:index], "".join(line[index : index + 1])
    fitting: Iterable[str]
    try:
        fitting = _fitting(commands, before, current)
    except (UsageError, ImportError):  # of what stands before; whoever runs it will be told
        fitting = []
    return [word for word in fitting if word.startswith(current)]


def _fitting(
    commands: Mapping[str, argparse.ArgumentParser], before: Sequence[str], current: str
) -> Iterable[str]:
    if not before:
        return [*commands, "--help", "--version"]
    name, *rest = before
    if name == "aws":
        return _of_aws(rest, current)
    if name == "completion" and not rest:
        return _SCRIPTS
    if name not in commands or not current.startswith("-") or "--" in rest:
        return []
    return options_of(commands[name])


def options_of(command: argparse.ArgumentParser) -> list[str]:
    """Return the long options of a command."""
    return [found[1] for found in _OPTION.finditer(command.format_help())]


def _of_aws(before: Sequence[str], current: str) -> Iterable[str]:
    from .aws import catalogue, parameters

    asked = invocation.read(before)
    if asked.service is None:
        return invocation.NAMES if current.startswith("-") else catalogue.services()
    service = catalogue.Service(asked.service, asked.options.model)
    if asked.waiter is None:
        return invocation.NAMES if current.startswith("-") else service.waiters
    known = parameters.of(service.operation(service.waiter(asked.waiter)))
    if current.startswith("-"):
        return [*(name for each in known for name in each.options), *invocation.NAMES]
    return _values(known, asked.rest)


def _values(known: Sequence[Parameter], words: Sequence[str]) -> Sequence[str]:
    """Return the values that the model names for the parameter that was given last."""
    given = [word for word in words if word.startswith("-")]
    return next((each.choices for each in known if each.option in given[-1:]), ())
