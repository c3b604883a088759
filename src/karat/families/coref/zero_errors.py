"""Errors of anaphoric zeros: missing, without or with a wrong antecedent, spurious.

Each zero that is not right is one error. A repair gives it an antecedent of gold, and leaves other mentions alone.
"""

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from karat.families.coref.errors import REPAIRED
from karat.families.coref.zeros import Anaphor
from karat.insight.repairs import Edit, Repair
from karat.insight.units import Classes, ErrorKind, Findings, FoundError, Target, UnitView
from karat.model import Mention

CLASSES: Classes = {
    "missing zero": "the system lacks the zero",
    "no antecedent": "the system has the zero as the first mention of its entity",
    "wrong antecedent": "the system resolves the zero to another entity",
    "spurious zero": "a zero of the system refers back, but is not an anaphoric zero in gold",
}


def _find(unit: UnitView, target: Target, confused: Sequence[str]) -> Findings:
    del target, confused
    return Findings(
        [error for counted in unit.tables for error in _document_errors(unit, counted.document, counted.table)], {}
    )


ERRORS = ErrorKind(lambda _target, _names: CLASSES, _find)


def _document_errors(unit: UnitView, document: str | None, anaphors: list[Anaphor]) -> Iterator[FoundError]:
    assert document is not None, "zeros are counted document by document"
    scored = frozenset(mention.id for mention in unit.documents[document].pair.system.mentions)
    for anaphor in anaphors:
        if anaphor.judgement != "right":
            instance = unit.instance(document, [anaphor.gold], [anaphor.system])
            yield FoundError(_class_of(anaphor), instance, [Repair(document, _repair(anaphor, document, scored))])


def _class_of(anaphor: Anaphor) -> str:
    if anaphor.judgement == "missed":
        return "missing zero" if anaphor.system is None else "no antecedent"
    return "wrong antecedent" if anaphor.judgement == "wrong" else "spurious zero"


def _repair(anaphor: Anaphor, document: str, scored: frozenset[str]) -> Edit:
    edit = Edit(keep_links=False, scored=scored)
    if anaphor.gold is None:
        assert anaphor.system is not None, "an anaphor has a side"
        edit.mentions[anaphor.system.id] = replace(anaphor.system, cluster=None)
        return edit
    cluster = _cluster_of_antecedent(anaphor, document, edit)
    if anaphor.system is None:
        edit.added[anaphor.gold.id] = replace(anaphor.gold, cluster=cluster)
    else:
        edit.mentions[anaphor.system.id] = replace(anaphor.system, cluster=cluster)
    return edit


def _cluster_of_antecedent(anaphor: Anaphor, document: str, edit: Edit) -> str:
    """The entity of the antecedent, which may have to be named, or added."""
    antecedent: Mention | None = anaphor.system_antecedent
    if antecedent is not None and antecedent.cluster is not None:
        return antecedent.cluster
    if antecedent is not None:
        cluster = f"{REPAIRED} {document} {antecedent.id} of the system"
        edit.mentions[antecedent.id] = replace(antecedent, cluster=cluster)
        return cluster
    assert anaphor.antecedent is not None, "a zero of gold is not the first of its entity"
    cluster = f"{REPAIRED} {document} {anaphor.antecedent.id}"
    edit.added[anaphor.antecedent.id] = replace(anaphor.antecedent, cluster=cluster)
    return cluster
