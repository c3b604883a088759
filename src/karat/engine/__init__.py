"""The engine runs protocols over pairs of documents. It knows no protocol and no measure by name.

    survey -> (each document: read, check, filter, collapse, align) -> tables -> add into units -> count -> sum -> score

Pairs are read one at a time, and each is released before the next one is read; only a few numbers of each are kept.
"""

from collections.abc import Sequence

from karat.corpus import Corpus, Executor, Progress
from karat.engine.divided import add_divided
from karat.engine.executors import Serial
from karat.engine.observer import Observe
from karat.engine.prepare import MakeTables
from karat.engine.protocol_run import ProtocolRun
from karat.engine.scoring import RunOptions, Scoring
from karat.errors import Findings, Rule, UsageError, nearest
from karat.measures import MEASURES
from karat.plugin import Tables
from karat.protocols import PROTOCOLS, Protocol, resolve
from karat.results import Result

__all__ = ["RunOptions", "score"]

NO_MEASURE = Rule(
    "measure-absent", "fatal", "Choose a measure of the protocol; --set attributes=... scores other attributes."
)


def score(
    gold: Corpus,
    system: Corpus,
    protocols: Sequence[Protocol],
    options: RunOptions,
    *,
    findings: Findings,
    progress: Progress | None = None,
    make_tables: MakeTables = Tables,
    observe: Observe | None = None,
    executor: Executor | None = None,
) -> list[Result]:
    """Score a system against gold under each protocol; the files are read once for all of them.

    `make_tables` makes the tables of a pair; they may be kept from one run to the next (`KeptTables`). `observe` makes,
    for each protocol, what sees the tables as they are counted. With an `executor`, documents are scored in other
    processes; tables that are kept stay in this one.
    """
    for prefix in options.measures:
        if "." in prefix or not any(name.startswith(prefix) for name in MEASURES.names()):
            _refuse_unknown_family(prefix)
    scoring = Scoring(gold, system, protocols, options, findings)
    try:
        paired = scoring.paired_ids()
        scoring.prepare(make_tables, observe)
        _refuse_absent(options.measures, scoring.runs)
        ids = scoring.counted(paired)
        if executor is None or make_tables is not Tables:
            scoring.add(ids, progress)
            return scoring.results(Serial())
        is_divided = add_divided(scoring, ids, executor, progress)
        return scoring.results(executor if is_divided else Serial())
    finally:
        scoring.close()


def _refuse_unknown_family(prefix: str) -> None:
    """Refuse a measure of no family; the last part of an id is not enough, but its ids are suggested."""
    try:
        MEASURES.get(prefix.partition(".")[0])
    except UsageError:
        ids = [id_ for _, family in MEASURES for row in family.card.rows for id_ in row.split(", ")]
        meant = [id_ for id_ in ids if id_.rpartition(".")[2] == prefix.lower()]
        if not meant:
            raise
        hint = f"Did you mean {' or '.join(meant)}? `karat measures` lists them."
        raise UsageError("unknown-measure", f"there is no measure {prefix!r}", hint) from None


def _refuse_absent(prefixes: Sequence[str], runs: Sequence[ProtocolRun]) -> None:
    """Refuse a measure that no protocol of this run offers, with the reason if it is known."""
    offered = list(dict.fromkeys(id_ for run in runs for id_ in run.offered))
    for prefix in prefixes:
        if any(id_.startswith(prefix) for id_ in offered):
            continue
        for run in runs:
            for row in run.unscored:
                if row.id.startswith(prefix):
                    raise NO_MEASURE.error(f"{run.protocol.name} does not score {row.id} here: {row.reason}")
        names = ", ".join(run.protocol.name for run in runs)
        message = f"{names} has no measure {prefix!r} here. {nearest(prefix, offered)}"
        family = prefix.partition(".")[0]
        others = [name for name, _ in PROTOCOLS if family in {choice.name for choice in resolve(name).families}]
        raise NO_MEASURE.error(f"{message} Protocols of that family: {', '.join(others)}." if others else message)
