"""RDR, VDR, RMD and VMD: values of relations and events, and the mapping that is worth most.

    Value(token) = Element_Value(token) · Arguments_Value(token)

Values of arguments come from the tables of entities, values and times, summed over the documents that mention the
relation or event; in document-level processing there is one.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from math import fsum
from typing import Any

from msgspec import Struct

from karat.families.ace.detection import DetectionTable, DetectionValues, ElementIds, best_mapping, summed
from karat.families.ace.elements import ElementsOfBothSides
from karat.families.ace.mentions import common_extensions
from karat.families.ace.plan import IndexPair, optimal
from karat.families.ace.records import Argument, ArgumentPair, Element, RelationCandidate, RelationPair, RelationToken
from karat.limits import MOST_PAIRS, check_pairs
from karat.plugin import Tables, TableSpec
from karat.problems import quoted
from karat.regions import extension, place


class RecognitionValues(TableSpec["RecognitionTable"]):
    """The values of relations, or of events, of pairs of them, and the mapping that is worth most."""

    errors_of = "elements"
    counted = "unit"

    def __init__(
        self,
        kind: str,
        elements: ElementsOfBothSides,
        arguments: Mapping[str, DetectionValues],
        whole: Mapping[str, DetectionValues] | None = None,
    ) -> None:
        self.kind = kind
        self.reading = arguments["entity"].reading
        self.parameters = self.reading.recognition[kind]
        self.elements = elements
        self.arguments = arguments
        """The values of arguments, by kind."""
        self.whole = whole or {}
        """If arguments are promoted mentions: the values of the elements that they mention."""

    def make(self, tables: Tables) -> "RecognitionTable":
        """Value the relations or events of one document."""
        gold, system = tables.get(self.elements)
        document = DocumentRelations(tables.pair.gold.id, gold.get(self.kind, []), system.get(self.kind, []))
        arguments, whole = (
            {kind: tables.get(values) for kind, values in source.items()} for source in (self.arguments, self.whole)
        )
        return RecognitionTable([document], arguments, whole, self)

    def add(self, tables: "Sequence[RecognitionTable]") -> "RecognitionTable":
        """Join documents, with the values of their arguments."""
        documents = [document for table in tables for document in table.documents]
        arguments = {
            kind: values.add([table.arguments[kind] for table in tables]) for kind, values in self.arguments.items()
        }
        whole = {kind: values.add([table.whole[kind] for table in tables]) for kind, values in self.whole.items()}
        return RecognitionTable(documents, arguments, whole, self)


class DocumentRelations(Struct, frozen=True, gc=False):
    """The relations or events of both sides of one document."""

    document: str
    gold: list[Element]
    system: list[Element]


class RecognitionTable:
    """Values of relations or events."""

    def __init__(
        self,
        documents: list[DocumentRelations],
        arguments: Mapping[str, DetectionTable],
        whole: Mapping[str, DetectionTable],
        spec: RecognitionValues,
    ) -> None:
        self.documents, self.arguments, self.whole, self.spec = documents, arguments, whole, spec
        self.reading = spec.reading
        self.compared: Sequence[str] = tuple(spec.parameters.W_err)
        self.is_promoted = bool(whole)
        gold_values = {kind: table.gold_values for kind, table in arguments.items()}
        system_values = {kind: table.system_values for kind, table in arguments.items()}
        self.gold = self._tokens([(relations.document, relations.gold) for relations in documents], gold_values)
        self.system = self._tokens([(relations.document, relations.system) for relations in documents], system_values)
        self.reference = {id_: token.value for id_, token in self.gold.items()}
        """The value of each reference."""
        self.own = {id_: token.value for id_, token in self.system.items()}
        """The value of each system element against itself."""

    def _tokens(
        self,
        documents: Sequence[tuple[str, list[Element]]],
        values: Mapping[str, Mapping[str, Mapping[str, float]]],
    ) -> dict[str, RelationToken]:
        """The tokens of one side by id, over all documents that mention them."""
        parts_of: dict[str, list[tuple[str, Element]]] = {}
        for document, elements in documents:
            for element in elements:
                parts_of.setdefault(element.id, []).append((document, element))
        tokens = {}
        for id_, parts in parts_of.items():
            _, element = parts[0]
            names = [document for document, _ in parts]
            arguments = element.arguments
            if len(parts) > 1:
                arguments = list(dict.fromkeys([argument for _, part in parts for argument in part.arguments]))
            own = [self.argument_value(values[argument.kind], argument.element, names) for argument in arguments]
            mentions = sum([len(part.mentions) for _, part in parts])
            value = element.inherent * self.reading.own_arguments_value(own, mentions)
            tokens[id_] = RelationToken(element, names, arguments, own, fsum(own), value)
        return tokens

    def argument_value(
        self, values: Mapping[str, Mapping[Any, float]], ids: str | ElementIds, documents: Sequence[str]
    ) -> float:
        """Value(arg, arg) of an argument, or Value(arg_sys, arg_ref) of two, over documents."""
        if len(documents) > 1:
            return fsum([self.argument_value(values, ids, (document,)) for document in documents])
        value = values[documents[0]].get(ids, 0.0)
        return self.reading.promoted_argument_value(value) if self.is_promoted else value

    @cached_property
    def unmapped(self) -> dict[str, float]:
        """The value of each unmapped system token, never positive."""
        value = self.reading.unmapped_relation_value
        return {id_: value(self.spec.parameters, own) for id_, own in self.own.items()}

    @cached_property
    def overlaps(self) -> dict[ElementIds, float]:
        """The overlap of mention extents under their best mapping, for tokens (gold, system) with any overlap."""
        return summed(_overlaps(document) for document in self.documents)

    @cached_property
    def relation_pairs(self) -> dict[ElementIds, RelationPair]:
        """Each two tokens (gold, system) that have a basis for correspondence."""
        mappable = {}
        for (gold, system), values in self._candidates().items():
            pair = self._pair(self.gold[gold], self.system[system], values, self.overlaps.get((gold, system), 0.0))
            if pair is not None:
                mappable[gold, system] = pair
        return mappable

    @cached_property
    def pairs(self) -> dict[ElementIds, float]:
        """The value of each of these pairs."""
        return {ids: pair.value for ids, pair in self.relation_pairs.items()}

    @cached_property
    def mapping(self) -> dict[str, str]:
        """Gold elements and the system elements they are mapped to."""
        return best_mapping(self.reading, self.pairs, self.unmapped, self.overlaps, (self.gold, self.system))

    def _candidates(self) -> dict[ElementIds, dict[IndexPair, float]]:
        """Tokens with overlapping extents, or with arguments (system, gold) whose elements correspond; their values."""
        holders: dict[tuple[str, str], list[tuple[str, int]]] = {}
        for id_, token in self.gold.items():
            for j, argument in enumerate(token.arguments):
                holders.setdefault((argument.kind, argument.element), []).append((id_, j))
        candidates: dict[ElementIds, dict[IndexPair, float]] = {ids: {} for ids in self.overlaps}
        count, most = 0, MOST_PAIRS * len(self.documents)
        for id_, token in self.system.items():
            for i, argument in enumerate(token.arguments):
                table, element = self.arguments[argument.kind], argument.element
                for partner in table.partners.get(element, ()):
                    if (held := holders.get((argument.kind, partner))) is not None:
                        value = self.argument_value(table.by_document, (partner, element), token.documents)
                        for holder, j in held:
                            candidates.setdefault((holder, id_), {})[i, j] = value
                        count += len(held)
            if count > most:
                where = f"document {quoted(token.documents[0])}"
                check_pairs(count // len(self.documents), "pairs of arguments", where=where, origin="gold")
        return candidates

    def _pair(
        self, gold: RelationToken, system: RelationToken, values: Mapping[IndexPair, float], overlap: float
    ) -> RelationPair | None:
        """Value(token) = Element_Value(sys) · Arguments_Value(sys), if there is a basis for correspondence."""
        reading = self.reading
        if self.is_promoted and not reading.is_in_place(gold.element, system.element, overlap):
            return None
        pair = RelationCandidate(gold, system, self._argument_pairs(gold, system, values), overlap)
        mapped = reading.argument_mapping(pair)
        if mapped is None:
            return None
        arguments_value = reading.promoted_arguments_value if self.is_promoted else reading.arguments_value
        value = reading.relation_element_value(pair, mapped) * arguments_value(pair, mapped)
        return RelationPair(value, {j: i for i, j in mapped})

    def _argument_pairs(
        self, gold: RelationToken, system: RelationToken, values: Mapping[IndexPair, float]
    ) -> dict[IndexPair, ArgumentPair]:
        """Arguments (system, gold) that may correspond, of those whose elements do (Tables 16 and 19).

        With the option `mapped` they must be mapped to each other.
        """
        reading = self.reading
        must_be_mapped = reading.parameters.argument_scoring == "mapped"
        pairs = {}
        for (i, j), value in values.items():
            if must_be_mapped and not self._are_mapped(gold.arguments[j], system.arguments[i]):
                continue
            pair = reading.argument_pair(gold, system, (i, j), value)
            if pair is not None:
                pairs[i, j] = pair
        return pairs

    def _are_mapped(self, gold: Argument, system: Argument) -> bool:
        """Return whether two arguments are mapped to each other as elements."""
        if not self.is_promoted:
            return self.arguments[gold.kind].mapping.get(gold.element) == system.element
        parent = self.arguments[system.kind].system[system.element].element.parent
        return self.reading.promoted_is_mapped(gold.element, parent, self.whole[gold.kind].mapping)

    def wrong_arguments(self, gold: str, system: str) -> list[int]:
        """Indexes of gold arguments that are not mapped to what their element is mapped to."""
        mapped = self.relation_pairs[gold, system].arguments
        gold_arguments, system_arguments = self.gold[gold].arguments, self.system[system].arguments
        if self.is_promoted:
            is_right = self.reading.promoted_is_right
            return [j for j in range(len(gold_arguments)) if not is_right(is_mapped=j in mapped)]
        return [
            j
            for j, argument in enumerate(gold_arguments)
            if j not in mapped or not self._are_mapped(argument, system_arguments[mapped[j]])
        ]

    def is_wrong_by_rule(self, gold: str, system: str) -> bool:
        """Return whether arguments are wrong only because those of promoted mentions never are right (`Nist`)."""
        gold_arguments, mapped = self.gold[gold].arguments, self.relation_pairs[gold, system].arguments
        return self.is_promoted and len(mapped) == len(gold_arguments) and bool(self.wrong_arguments(gold, system))

    def argument_pairs(self, gold: str, system: str) -> Iterator[tuple[Argument | None, Argument | None]]:
        """The arguments of two elements that are mapped to each other: those that are mapped, missed, and spurious."""
        mapped = self.relation_pairs[gold, system].arguments
        gold_arguments, system_arguments = self.gold[gold].arguments, self.system[system].arguments
        for j, argument in enumerate(gold_arguments):
            yield argument, system_arguments[mapped[j]] if j in mapped else None
        taken = set(mapped.values())
        yield from ((None, argument) for i, argument in enumerate(system_arguments) if i not in taken)


ValueTable = DetectionTable | RecognitionTable
"""The table of any task."""


def _overlaps(document: DocumentRelations) -> dict[ElementIds, float]:
    """The overlap of mention extents of tokens (gold, system) in one document under their best mapping."""
    golds, systems = (
        [(element.id, place(mention, "extent") or place(mention)) for element in side for mention in element.mentions]
        for side in (document.gold, document.system)
    )
    regions = [region for _, region in golds], [region for _, region in systems]
    gold_sizes, system_sizes = (list(map(extension, side)) for side in regions)
    shares: dict[ElementIds, dict[IndexPair, float]] = {}
    for (s, g), length in common_extensions(*regions, document.document).items():
        shares.setdefault((golds[g][0], systems[s][0]), {})[g, s] = length / max(gold_sizes[g], system_sizes[s])
    return {ids: _mapped_share(share_of) for ids, share_of in shares.items()}


def _mapped_share(shares: Mapping[IndexPair, float]) -> float:
    """The overlap of mention extents of two tokens under the mapping that makes it largest."""
    if len(shares) == 1:
        return next(iter(shares.values()))
    gains = {pair: (round(share * 1e12), 0.0) for pair, share in shares.items()}
    return fsum([shares[pair] for pair in optimal(gains)])
