"""Results from counts that were kept elsewhere: what a run made of its documents is not computed again."""

from collections.abc import Iterable

from karat.corpus import Index, Survey
from karat.engine.protocol_run import ProtocolRun
from karat.engine.score_function import ScoreFunction
from karat.plugin import Facts
from karat.protocols import Protocol


def score_function(
    protocol: Protocol, gold: Survey, system_kinds: Iterable[str], measures: tuple[str, ...]
) -> ScoreFunction:
    """What makes scores of the counts of a run under this protocol, with these measures.

    Of the system, only the kinds of its mentions matter.
    """
    facts = Facts(kinds=system_kinds)
    system = Survey(Index(), lambda: facts)
    return ProtocolRun(protocol, gold, system, report=_ignore, measures=measures).score_function()


def _ignore(finding: object) -> None:
    """The run has already reported it."""
