"""Small corpora at random, valued by karat and by hand: every task, every condition, document by document or not."""

from fractions import Fraction
from math import fsum
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from karat.api.scoring import Result, score
from karat.model import Document
from tests.ace_by_hand import Plan, Row, some_corpus
from tests.corpora import corpus

TASKS = ("edr", "val", "tern", "rdr", "vdr", "emd", "rmd", "vmd")
CHOICES = {
    "weighting": ["level", "mention"],
    "mapping": ["arguments", "extents", "both", "either", "all", "all+extents"],
    "relation_arguments": ["both", "1", "0"],
    "argument_scoring": ["overlapping", "mapped"],
    "parameters": ["DEFAULT", "2005+TERN", "2005-TERN"],
    "averaging": ["arithmetic"],
}


def drawn(seed: int) -> tuple[list[Document], list[Document], dict[str, str], bool]:
    """Gold, system, settings, and whether documents are processed together."""
    random = Random(seed)
    together = random.random() < 0.5
    names = ["d1", "d2"][: random.randint(1, 2)]
    gold = some_corpus(random, "g", names, shared=together)
    system = some_corpus(
        random, "s", [name for name in names if name == "d1" or random.random() < 0.8], shared=together
    )
    chosen = {name: random.choice(values) for name, values in CHOICES.items()}
    if chosen["mapping"].startswith("all") and random.random() < 0.5:
        chosen["averaging"] = "geometric"
    return gold, system, chosen, together


def by_hand(gold: list[Document], system: list[Document], chosen: dict[str, str], *, together: bool) -> list[Plan]:
    if together:
        return [Plan(gold, system, **chosen)]
    return [Plan([ours], [theirs for theirs in system if theirs.id == ours.id], **chosen) for ours in gold]


def scored(seed: int, **options: Any) -> tuple[Result, list[Plan]]:
    gold, system, chosen, together = drawn(seed)
    processing = "cross-document" if together else "document"
    result = score(
        corpus(gold), corpus(system), protocol="ace-2005", settings={**chosen, "processing": processing}, **options
    )
    return result, by_hand(gold, system, chosen, together=together)


def summed(rows: list[Row]) -> dict[str, Any]:
    """The counts of a task, or of a part of it."""
    outcomes = [row.outcome for row in rows]
    costs = {
        name: float(sum((row.cost for row in rows if row.outcome in of), Fraction(0)))
        for name, of in (
            ("miss_cost", ("miss",)),
            ("false_alarm_cost", ("false_alarm",)),
            ("error_cost", ("correct", "error")),
        )
    }
    return {
        "reference": sum(row.gold is not None for row in rows),
        **{name: outcomes.count(name) for name in ("correct", "error", "miss", "false_alarm")},
        "reference_value": float(sum((row.worth for row in rows), Fraction(0))),
        **costs,
    }


@pytest.mark.parametrize("seed", range(80))
def test_values(seed: int) -> None:
    """Compare the values of the system and the reference; where only one mapping is best, also every count and cost."""
    result, plans = scored(seed)
    for task in TASKS:
        if f"ace.{task}" not in result.scores:
            assert task in ("vdr", "vmd")  # events have no product of arguments
            continue
        counts = result[f"ace.{task}"].to_dict()["micro"]["counts"]
        if rows := untied(plans, task):
            assert counts == pytest.approx(summed(rows)), task
        elif "mapped" not in drawn(seed)[2].values():
            wanted = summed([row for plan in plans for row in plan.task(task)])
            assert value(counts) == pytest.approx(value(wanted)), task
            assert counts["reference_value"] == pytest.approx(wanted["reference_value"]), task


SOURCES = {"d1": "newswire", "d2": "weblog"}


def in_documents(seed: int, **options: Any) -> tuple[Result, list[Plan]]:
    """Documents by themselves, with their sources."""
    gold, system, chosen, together = drawn(seed)
    sides = [
        [replace(document, source=SOURCES[document.id]) for document in side[: 1 if together else 2]]
        for side in (gold, system)
    ]
    result = score(corpus(sides[0]), corpus(sides[1]), protocol="ace-2005", settings=chosen, **options)
    return result, by_hand(sides[0], sides[1], chosen, together=False)


def untied(plans: list[Plan], task: str) -> list[Row]:
    """The rows of a task, if only one mapping is best."""
    for plan in plans:
        plan.is_tied = False
    rows = [row for plan in plans for row in plan.task(task)]
    return [] if any(plan.is_tied for plan in plans) else rows


FIELDS = (*("type", "subtype", "class", "level", "value", "mention_count", "modality", "argument_errors", "source"),)


def key_of(row: Row, field: str) -> str | None:
    """The value under which a row is filed: the reference's, or that of a false alarm."""
    token = row.gold or row.system
    assert token is not None
    if field == "value":
        worth = row.worth if row.gold else row.own
        ranges = ((0.2, "0.0-0.2"), (0.5, "0.2-0.5"), (1, "0.5-1.0"), (2, "1-2"), (4, "2-4"), (99, "above 4"))
        return next(name for most, name in ranges if worth <= most)
    if field == "mention_count":
        return str(sum(map(len, token.mentions.values())))
    if field == "source":
        return SOURCES[token.documents[0]]
    if field == "argument_errors":
        if row.gold is None or row.gold.kind not in ("relation", "event"):
            return None
        wrong = row.wrong_arguments if row.system else len(row.gold.arguments)
        return str(wrong) if wrong < 2 else "2 and more"
    if field == "level":
        levels = {1: "NAM", Fraction(1, 2): "NOM", Fraction(1, 10): "PRO"}
        return levels[token.level] if token.kind == "entity" else None
    if field == "type" and token.kind == "time":
        return "TIMEX2"
    found = token.attributes.get(field)
    return None if found is None else str(found)


@pytest.mark.parametrize("seed", range(300, 340))
def test_conditional_tables(seed: int) -> None:
    """Each row of a breakdown is the sum over the references, and false alarms, that have its value."""
    result, plans = in_documents(seed, by=FIELDS)
    for task in TASKS:
        rows = untied(plans, task)
        if not rows or f"ace.{task}" not in result.scores:
            continue
        for field in FIELDS:
            wanted: dict[str | None, list[Row]] = {}
            for row in rows:
                wanted.setdefault(key_of(row, field), []).append(row)
            found = {
                key: scores[f"ace.{task}"].to_dict()["micro"]["counts"]
                for key, scores in result.by[field].items()
                if f"ace.{task}" in scores
            }
            found = {key: counts for key, counts in found.items() if counts["reference"] or counts["false_alarm"]}
            reported = {"(none)" if key is None else key: summed(part) for key, part in wanted.items()}
            assert found == {key: pytest.approx(counts) for key, counts in reported.items()}, (task, field)


@pytest.mark.parametrize("seed", range(400, 430))
def test_recognition(seed: int) -> None:
    """Attributes of elements: found, missed, invented, and taken for another; documents by themselves."""
    result, plans = in_documents(seed, details=True, per_unit=True)
    for task in TASKS:
        rows = untied(plans, task)
        if not rows or f"ace.{task}" not in result.scores:
            continue
        for document, plan in zip(sorted(result.units), plans, strict=True):
            there = result.units[document][f"ace.{task}"].to_dict()["counts"]
            assert there == pytest.approx(summed(plan.task(task))), (task, document)
        reported = result.details[f"ace.{task}"]["recognition"]
        for name in ("type", "subtype", "class", "modality", "val"):
            cells = [
                tuple(None if token is None else token.attributes.get(name) for token in (row.gold, row.system))
                for row in rows
                if any(token is not None and name in token.attributes for token in (row.gold, row.system))
            ]
            kind = next(iter(reported))
            if not cells:
                assert name not in reported[kind] or name == "type"
                continue
            found = reported[kind][name]
            assert found["miss"] == sum(theirs is None for _, theirs in cells)
            assert found["false_alarm"] == sum(ours is None for ours, _ in cells)
            assert found["reference"] == sum(ours is not None for ours, _ in cells)
            missed, spurious = ([cell[one] for cell in cells if cell[1 - one] is None] for one in (0, 1))
            assert found["missed"] == {value: missed.count(value) for value in missed}
            assert found["spurious"] == {value: spurious.count(value) for value in spurious}
            assert found["substitution"] == sum(None not in cell and cell[0] != cell[1] for cell in cells)
            confusion = {(ours, theirs): n for ours, row in found["confusion"].items() for theirs, n in row.items()}
            assert confusion == {cell: cells.count(cell) for cell in cells if None not in cell}


def value(counts: dict[str, float]) -> float:
    return fsum([counts["reference_value"], *(-counts[f"{name}_cost"] for name in ("miss", "error", "false_alarm"))])
