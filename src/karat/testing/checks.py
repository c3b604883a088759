"""Checks of the laws that a measure, a format or a protocol promises."""

from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
from hypothesis import HealthCheck, assume, given, note, settings
from hypothesis import strategies as st

from karat.filters.distinct import Distinct
from karat.formats import jsonl
from karat.model import Document
from karat.plugin import AlignmentChoice, Averages, Comparison, Facts, Family, Format, WriteOptions
from karat.problems import KaratError
from karat.protocols import FamilyChoice, Protocol, resolve
from karat.run.plan import Options, Plan
from karat.testing.corpora import Sides, any_sides, completed, distinct, relation_sides, spanned_sides
from karat.testing.formats import check_format
from karat.testing.laws import ALWAYS, LAWS, AnyLaw, Trial

EXAMPLES = 40
NOTHING_TO_SCORE = ("kind-absent", "entities-absent")
"""Codes of refusals of a gold that has nothing that the protocol scores."""


def check(
    plugin: ModuleType | Family[Any] | Format | Protocol | str | Path,
    *,
    parameters: dict[str, Any] | None = None,
    samples: Iterable[str | Path] = (),
    corpora: "st.SearchStrategy[Sides] | None" = None,
    examples: int = EXAMPLES,
) -> None:
    """Check every law that a plug-in promises.

    `parameters` are those that a protocol would set for a family (by default, only its alignment), `samples` are files
    of a format, and `corpora` is a strategy for gold and system documents, if the default ones do not fit.
    """
    if isinstance(plugin, ModuleType):
        plugin = _offered(plugin)
    if isinstance(plugin, Format):
        check_format(plugin, samples, examples=examples)
    elif isinstance(plugin, Family):
        if corpora is None and _is_aligned(plugin):
            corpora = spanned_sides()
        check_protocol(_protocol_of(plugin, parameters), corpora=corpora, examples=examples)
    elif isinstance(plugin, Protocol):
        check_protocol(plugin, corpora=corpora, examples=examples)
    else:
        check_protocol(resolve(str(plugin)), corpora=corpora, examples=examples)


def _offered(module: ModuleType) -> Family[Any] | Format:
    for name in ("FAMILY", "FORMAT"):
        offered = vars(module).get(name)
        if isinstance(offered, Family | Format):
            return offered
    raise AssertionError(f"{module.__name__} offers neither FAMILY, a karat.plugin.Family, nor FORMAT, a Format")


def takes_defaults(family: Family[Any]) -> bool:
    """Check that a family needs no parameters beside its alignment."""
    return {field.name for field in msgspec.structs.fields(family.parameters) if field.required} <= {"alignment"}


def _is_aligned(family: Family[Any]) -> bool:
    return "alignment" in family.parameters.__struct_fields__


def _protocol_of(family: Family[Any], parameters: dict[str, Any] | None) -> Protocol:
    """A protocol with a single family."""
    if parameters is None:
        parameters = {"alignment": "overlap"} if _is_aligned(family) else {}
    return Protocol(
        name=family.card.title,
        title=family.card.title,
        about="",
        sources=(),
        laws=family.card.laws,
        unit="document",
        system_only_documents="score",
        gold_only_documents="score",
        parameters={},
        values={},
        faults=(),
        refusals=(),
        comparison=Comparison(),
        filters=(),
        collapse=None,
        alignments={"overlap": AlignmentChoice(), "exact": AlignmentChoice(similarity="exact")},
        families=(FamilyChoice("family", family, msgspec.convert(parameters, family.parameters), Averages()),),
        digest=None,
    )


def check_protocol(
    protocol: Protocol, *, corpora: "st.SearchStrategy[Sides] | None" = None, examples: int = EXAMPLES
) -> None:
    """Check every law that a protocol promises, and those that hold for every protocol."""
    check_laws((*protocol.laws, *ALWAYS), protocol, corpora=corpora, examples=examples)


def check_laws(
    laws: Iterable[AnyLaw],
    protocol: Protocol,
    *,
    corpora: "st.SearchStrategy[Sides] | None" = None,
    examples: int = EXAMPLES,
) -> None:
    """Check laws on many small corpora, all laws on the same ones: making them takes longer than scoring them.

    The first law that breaks is reported, with the smallest corpora that break it.
    """
    left = list(laws)

    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        suppress_health_check=[HealthCheck.too_slow],
        report_multiple_bugs=False,
    )
    @given(corpora if corpora is not None else relation_sides() if _reads_relations(protocol) else any_sides())
    def hold(both: Sides) -> None:
        both = fitting(both, protocol)
        for side, documents in zip(("gold", "system"), both, strict=True):
            note(f"{side}:\n{_lines(documents)}")
        trial = Trial(protocol, both)
        tried = [law for law in left if _is_tried(law, trial, left)]
        assume(tried)

    hold()


def _reads_relations(protocol: Protocol) -> bool:
    """Return whether a protocol scores relations between mentions."""
    facts = Facts()
    try:
        return any(table.relations for table in Plan(protocol, facts, facts, Options()).tables)
    except KaratError:
        return False


def _is_tried(law: AnyLaw, trial: Trial, left: list[AnyLaw]) -> bool:
    """Try a law; false if the corpora have nothing to score. If it breaks, no other is left to try on smaller ones."""
    try:
        (LAWS | ALWAYS)[law](trial)
    except KaratError as error:
        if error.finding.code in NOTHING_TO_SCORE:
            return False
        raise
    except AssertionError:
        left[:] = [law]
        raise
    return True


def _lines(documents: Iterable[Document]) -> str:
    """Documents as a .jsonl file has them, which leaves out what they do not have."""
    return b"".join(jsonl.write(document, WriteOptions(), lambda _: None) for document in documents).decode()


def fitting(both: Sides, protocol: Protocol) -> Sides:
    """Corpora without what a protocol counts as a fault: missing documents, mentions of the same span."""
    if protocol.gold_only_documents == "refuse":
        both = completed(both)
    if any(isinstance(filter_, Distinct) for filter_ in protocol.filters):
        both = distinct(both)
    return both
