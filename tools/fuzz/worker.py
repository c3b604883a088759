"""Runs the commands of cases in a worker process."""

import os
import warnings
from pathlib import Path
from typing import NamedTuple

from fuzz.cases import case
from fuzz.checks import Arguments, Problem, Workspace, limit, refusal
from fuzz.corpora import corpora
from karat.problems import PluginWarning


class Result(NamedTuple):
    """The result of one case."""

    kind: str
    is_accepted: bool
    """The first command, usually `validate`, exits with 0."""
    problems: list[tuple[int, Arguments, Problem]]


_space: list[Workspace] = []
"""The workspace of this process."""


def prepare(folder: str) -> None:
    """Make a process ready for `run`."""
    limit()
    warnings.simplefilter("error")
    warnings.simplefilter("default", PluginWarning)
    corpora()
    _space.append(Workspace(Path(folder, str(os.getpid()))))


def run(seed: int, number: int) -> Result:
    """Run the commands of a case."""
    made = case(seed, number)
    (space,) = _space
    space.fill(made.files)
    is_accepted, found = True, list[tuple[int, Arguments, Problem]]()
    for index, arguments in enumerate(made.commands):
        if arguments == made.clean and not is_accepted:
            break
        outcome, problems = space.checked(arguments)
        if index == 0:
            is_accepted = outcome.code == 0
        elif arguments == made.clean and outcome.code:
            problems.append(Problem("what validate accepts can be scored", refusal(outcome) or "", outcome.err))
        found += ((number, arguments, problem) for problem in problems)
    return Result(made.kind, is_accepted, found)
