"""Results: the scores of a run, with everything needed to report them. `to_dict()` returns the JSON."""

from array import array
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from karat.counts import ScoreValues
from karat.errors import Finding


class Score(Struct, frozen=True):
    """The scores of one measure: the micro average (`score.f1` is the micro F1) and, if any, the macro average."""

    micro: ScoreValues
    macro: ScoreValues | None = None

    def __getattr__(self, name: str) -> float | None:
        return getattr(self.micro, name)  # type: ignore[no-any-return]

    def to_dict(self) -> dict[str, Any]:
        """As in the JSON."""
        averages = {"micro": self.micro, "macro": self.macro}
        return {name: leaf.to_dict() for name, leaf in averages.items() if leaf is not None}


class UnitRows(Struct, frozen=True):
    """The counts of each unit, and the scores that any sum of them gives: all that intervals and tests need."""

    units: Sequence[str]
    columns: Sequence["array[float]"]
    """One number per unit each. Numbers of units that a measure does not average are zero."""
    finish: Callable[[Sequence[float]], Mapping[str, Score]]
    """The scores of one sum per column, by measure."""


class Side(Struct, frozen=True):
    """What was read on one side."""

    name: str
    documents: int
    mentions: int
    fingerprint: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """As in the JSON, which omits the name: it depends on where the file is."""
        numbers = {"documents": self.documents, "mentions": self.mentions}
        return numbers if self.fingerprint is None else {**numbers, "fingerprint": self.fingerprint}


class Result:
    """The scores of one system under one protocol, with what is needed to interpret and reproduce them."""

    def __init__(
        self,
        *,
        version: str,
        protocol: str,
        title: str,
        signature: str,
        unit: str,
        unit_count: int,
        gold: Side,
        system: Side,
        scores: Mapping[str, Score],
        by: Mapping[str, Mapping[str, Mapping[str, Score]]],
        units: Mapping[str, Mapping[str, ScoreValues]],
        warnings: Sequence[Finding],
        warning_counts: Mapping[str, int],
        details: Mapping[str, Any] | None = None,
    ) -> None:
        self.version = version
        self.protocol = protocol
        self.title = title
        self.signature = signature
        self.unit = unit
        self.unit_count = unit_count
        self.gold = gold
        self.system = system
        self.scores = scores
        self.by = by
        self.units = units
        self.details = details or {}
        self.warnings = warnings
        self.warning_counts = warning_counts

    def __getitem__(self, measure: str) -> Score:
        try:
            return self.scores[measure]
        except KeyError:
            raise KeyError(f"{measure!r} was not scored; scored: {', '.join(self.scores)}") from None

    def to_dict(self) -> dict[str, Any]:
        """The JSON that `karat score -f json` prints."""
        content: dict[str, Any] = {
            "karat": self.version,
            "protocol": self.protocol,
            "signature": self.signature,
            "unit": self.unit,
            "gold": self.gold.to_dict(),
            "system": self.system.to_dict(),
            "scores": _nested(self.scores),
        }
        if self.by:
            content["by"] = {field: {key: _nested(row) for key, row in rows.items()} for field, rows in self.by.items()}
        if self.units:
            name = "documents" if self.unit == "document" else "units"
            content[name] = {unit: _nested(row) for unit, row in self.units.items()}
        if self.details:
            content["details"] = self.details
        content["warnings"] = [
            {key: value for key, value in finding.to_dict().items() if value not in (None, "")}
            for finding in self.warnings
        ]
        return content


def _nested(leaves: Mapping[str, Score] | Mapping[str, ScoreValues]) -> dict[str, Any]:
    return {name: leaf.to_dict() for name, leaf in leaves.items()}
