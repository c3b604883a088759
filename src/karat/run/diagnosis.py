"""Problems of a system as a whole: spans that do not fit, labels that gold never has, sides swapped.

Spans are looked at in the first documents only, and compared with those of gold one by one only if few of them are
gold's: a good system costs a few set operations per document, whatever the size of the corpus.
"""

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from operator import add, sub
from typing import Any, TypeVar

from msgspec import Struct, field
from msgspec.structs import astuple

from karat.checks.annotations import are_same_words, source_of
from karat.corpus.interface import Corpus
from karat.model import HOLDERS, Document, Mention, Pair, Value
from karat.problems import Finding, KaratError, Rule, closest, ignore, quoted
from karat.regions import is_nowhere

SPANS = Rule(
    "spans-differ",
    "note",
    "Spans are [start, end): add 1 to inclusive ends, or, in a table, name their column `last`. Offsets count from 0 "
    "in the text that gold has.",
)
LABELS = Rule("labels-unknown", "note", "They match nothing; rename them if gold has another name for them.")
EVENTS = Rule("arguments-are-events", "note", "Compare only with scores that also leave them out.")
SWAPPED = Rule("sides-swapped", "note", "GOLD comes first, then SYSTEM; --against takes GOLD.")

LOOKED_AT = 1000
"""Mentions of the system to look at."""
FEW = 10
"""With fewer mentions, all of them must speak for an explanation."""
VERY_FEW = 3
"""With fewer mentions, a longer shift than by one place would often be chance."""
FARTHEST = 100
"""The longest shift that is looked for."""

K = TypeVar("K", bound=Hashable)
T = TypeVar("T", bound=Value | None)
Segment = tuple[int, int]
Change = tuple[int, int]
"""Additions to the begin of a span, and to its length, that make it gold's."""


class _Fit(Struct):
    """How the spans of some mentions fit gold: those of one kind, or those that have a text."""

    total: int = 0
    right: int = 0
    changed: Counter[Change] = field(default_factory=Counter)
    """Spans that would be right after a change."""
    cut: int = 0
    """Spans of the system that begin or end within a word."""
    gold_cut: int = 0
    gold: int = 0
    beyond: int = 0
    """Mentions that end after gold's text."""

    def __add__(self, other: "_Fit") -> "_Fit":
        return _Fit(*map(add, astuple(self), astuple(other)))

    def __sub__(self, other: "_Fit") -> "_Fit":
        return _Fit(*map(sub, astuple(self), astuple(other)))

    def is_most(self, count: int) -> bool:
        """Return whether this number is at least half of the mentions, or all of a few."""
        return 2 * count >= self.total if self.total >= FEW else count == self.total

    def explanations(self) -> Iterator[str]:
        """Say which change makes at least twice as many spans right, and how many spans cut words."""
        is_farther = self.total >= VERY_FEW
        known = {change: count for change, count in self.changed.items() if is_farther or abs(change[0]) < 2}
        if known:
            change, count = max(known.items(), key=lambda item: (item[1], -abs(item[0][0]), item[0]))
            if count >= 2 * self.right and self.is_most(count):
                right = f"{count:,} of {self.total:,} would match gold if corrected, {self.right:,} do now"
                yield f"{_named(*change)} ({right})"
        cut = self.cut
        if (
            cut
            and 10 * cut >= self.total
            and cut * self.gold >= 2 * self.gold_cut * self.total
            and (cut > 1 or self.total < FEW)
        ):
            yield f"{cut:,} of {self.total:,} spans cut words"


class _DocumentFit:
    """How the spans of one document fit gold."""

    def __init__(self, pair: Pair) -> None:
        self.pair = pair
        self.texts, self.kinds = _Fit(), defaultdict[str, _Fit](_Fit)
        self.compared: set[str] = set()
        """Kinds of mentions whose spans were compared with gold's one by one."""
        if pair.gold.unit != pair.system.unit:
            return
        _compare_texts(pair, self.texts)
        places = {(mention.kind, mention.span) for mention in pair.gold.mentions}
        for mention in pair.system.mentions:
            if mention.span and not is_nowhere(mention.span):
                fit = self.kinds[mention.kind]
                fit.total += 1
                fit.right += (mention.kind, mention.span) in places
        if pair.gold.unit == "char" and pair.gold.text is not None:
            self._count_cuts(pair.gold.text)

    def _count_cuts(self, text: str) -> None:
        """Count the spans of both sides that cut words."""
        for mention in filter(_is_segment, self.pair.system.mentions):
            self.kinds[mention.kind].cut += _cuts_word(text, *mention.span[0])
        for mention in filter(_is_segment, self.pair.gold.mentions):
            fit = self.kinds[mention.kind]
            fit.gold += 1
            fit.gold_cut += _cuts_word(text, *mention.span[0])

    def changes(self, kind: str) -> Counter[Change]:
        """Count the system's spans of a kind that a change would make gold's."""
        self.compared.add(kind)
        by_length: dict[int, list[int]] = {}
        for begin, end in sorted({*_segments(self.pair.gold.mentions, kind)}):
            by_length.setdefault(end - begin, []).append(begin)
        changed = self.kinds[kind].changed
        for begin, end in _segments(self.pair.system.mentions, kind)[:LOOKED_AT]:
            for longer in (-1, 0, 1):
                begins = by_length.get(end - begin + longer, [])
                for other in begins[bisect_left(begins, begin - FARTHEST) :]:
                    if other > begin + FARTHEST:
                        break
                    if other != begin or longer:
                        changed[other - begin, longer] += 1
        return changed


class FirstSpans:
    """The spans of the system's first documents, compared with gold's, and with gold's text."""

    def __init__(self) -> None:
        self.last = ""
        """The last document, by its id, that was compared."""
        self._documents: dict[str, _DocumentFit] = {}
        self._mentions = 0
        self._texts, self._kinds = _Fit(), defaultdict[str, _Fit](_Fit)
        self._findings: list[Finding] | None = None

    @classmethod
    def of(cls, gold: Corpus, system: Corpus) -> "FirstSpans":
        """Compare as many documents as it takes."""
        spans = cls()
        for id_ in sorted(gold.ids() & system.ids()):
            if not spans.takes(id_):
                break
            spans.read(id_, gold, system)
        return spans

    def takes(self, id_: str) -> bool:
        """Return whether a document is among the first ones."""
        return self._mentions < LOOKED_AT or id_ < self.last

    def read(self, id_: str, gold: Corpus, system: Corpus) -> None:
        """Compare a document that both sides have."""
        try:
            pair = Pair(gold.read(id_, ignore), system.read(id_, ignore))
            if pair.gold.empty_nodes != pair.system.empty_nodes:
                from karat.checks.pairs import in_one_numbering

                pair = in_one_numbering(pair)
        except KaratError:  # reported when it was checked
            return
        self.add(pair)

    def add(self, pair: Pair) -> None:
        """Compare a document whose sides number their tokens alike; the last ones give way if there are enough."""
        self.last = max(self.last, pair.gold.id)
        self._documents[pair.gold.id] = document = _DocumentFit(pair)
        self._count(document, add)
        while self._mentions - len((last := self._documents[self.last]).pair.system.mentions) >= LOOKED_AT:
            del self._documents[self.last]
            self._count(last, sub)
            self.last = max(self._documents)

    def _count(self, document: _DocumentFit, operator: Callable[[Any, Any], Any]) -> None:
        """Add a document to the sums, or subtract it."""
        self._mentions = operator(self._mentions, len(document.pair.system.mentions))
        self._texts = operator(self._texts, document.texts)
        for kind, fit in document.kinds.items():
            self._kinds[kind] = operator(self._kinds[kind], fit)
        self._findings = None

    def findings(self, *, count_texts: bool = True) -> list[Finding]:
        """Return what does not fit; `count_texts` is false where each text that differs is reported by itself."""
        if self._findings is None:
            self._findings = [*self._problems(count_texts=count_texts)]
        return self._findings

    def _problems(self, *, count_texts: bool) -> Iterator[Finding]:
        texts = self._texts
        kinds = {kind: fit for kind, fit in sorted(self._kinds.items()) if fit.total}
        for kind, fit in kinds.items():
            if 2 * fit.right <= fit.total:  # else no change explains more of them
                for document in self._documents.values():
                    if kind not in document.compared:
                        fit.changed += document.changes(kind)
        problems: list[str] = []
        if count_texts and texts.right < texts.total:
            problems.append(f"{texts.total - texts.right:,} of {texts.total:,} differ from the text at their span")
        if count_texts and texts.beyond:
            all_kinds = sum([fit.total for fit in kinds.values()])
            problems.append(f"{texts.beyond:,} of {all_kinds:,} end after gold's text")
        problems += texts.explanations()
        for kind, fit in kinds.items():
            of_kind = f" of kind {kind}" if len(kinds) > 1 else ""
            named = {explanation.partition(" (")[0] for explanation in problems}
            problems += [f"{each}{of_kind}" for each in fit.explanations() if each.partition(" (")[0] not in named]
        if problems:
            yield SPANS.at(f"system mentions: {'; '.join(problems)}")


def _compare_texts(pair: Pair, fit: _Fit) -> None:
    """Compare the texts of the system's mentions with gold's words; a document with words of its own was checked."""
    if pair.system.text is not None or pair.system.forms is not None:
        return
    if pair.gold.text is None and pair.gold.forms is None:
        return
    source = source_of(pair.gold)
    for mention in pair.system.mentions:
        if not mention.span or is_nowhere(mention.span):
            continue
        fit.beyond += source is not None and mention.span[-1][1] > len(source)
        if not mention.text:
            continue
        covered = _text_at(pair.gold, mention.span)
        if covered is None:
            continue
        fit.total += 1
        if are_same_words(mention.text, covered):
            fit.right += 1
        elif len(mention.span) == 1:
            ((begin, end),) = mention.span
            for shift in range(-2, 3):
                for longer in (-1, 0, 1):
                    first, last = begin + shift, end + shift + longer
                    other = (_text_at(pair.gold, ((first, last),)) or "") if 0 <= first < last else ""
                    if other == other.strip() and are_same_words(mention.text, other):
                        fit.changed[shift, longer] += 1


def _text_at(document: Document, span: Sequence[Segment]) -> str | None:
    if document.text is None and document.forms is not None:
        return " ".join(chain.from_iterable(document.forms[begin:end] for begin, end in span))
    from karat.words import region_text

    return region_text(document, tuple(span))


def _segments(mentions: Iterable[Mention], kind: str) -> list[Segment]:
    return [mention.span[0] for mention in mentions if mention.kind == kind and _is_segment(mention)]


def _is_segment(mention: Mention) -> bool:
    return len(mention.span) == 1 and not is_nowhere(mention.span)


def _cuts_word(text: str, begin: int, end: int) -> bool:
    return any(text[place - 1 : place].isalnum() and text[place : place + 1].isalnum() for place in (begin, end))


def _named(shift: int, longer: int) -> str:
    ends = {1: "ends look inclusive", -1: "ends look one too far", 0: ""}[longer]
    shifted = f"spans look shifted by {-shift}" if shift else ""
    return " and ".join(filter(None, (shifted, ends)))


class Labels(Struct):
    """The types of events, and the roles of what fills them, on both sides."""

    gold_types: set[Value | None] = field(default_factory=set)
    system_types: Counter[Value | None] = field(default_factory=Counter)
    gold_roles: Counter[tuple[str, bool]] = field(default_factory=Counter)
    """Each with whether an event fills it: such a link may not be an argument."""
    system_roles: Counter[tuple[str, bool]] = field(default_factory=Counter)

    def add(self, pair: Pair, *, roles: bool) -> None:
        """Add a document; roles are counted on request."""
        self.gold_types.update([m.attributes.get("type") for m in pair.gold.mentions if m.kind in HOLDERS])
        _add([m.attributes.get("type") for m in pair.system.mentions if m.kind in HOLDERS], self.system_types)
        if roles:
            _add(_roles(pair.gold), self.gold_roles)
            _add(_roles(pair.system), self.system_roles)

    def update(self, other: "Labels") -> None:
        """Add those of other documents."""
        self.gold_types |= other.gold_types
        self.system_types += other.system_types
        self.gold_roles += other.gold_roles
        self.system_roles += other.system_roles

    def findings(self, key: Callable[[Value | None], Value | None], *, types: bool, roles: bool) -> Iterator[Finding]:
        """Note what gold never has; `key` is what is compared in place of a type."""
        golds, systems = _of_fillers(self.gold_roles), _of_fillers(self.system_roles)
        unknown = [*_unknown("type", self.system_types, self.gold_types, key)] if types else []
        if roles:
            unknown += _unknown("role", systems, {role for role, _ in self.gold_roles}, lambda role: role)
        if unknown:
            yield LABELS.at("; ".join(unknown))
        if roles:
            yield from _events(("gold", self.gold_roles, golds), ("the system", self.system_roles, systems))


def _add(values: Iterable[K], counts: Counter[K]) -> None:
    """Count values: those of one document are so few that `Counter.update` takes longer."""
    for value in values:
        counts[value] = counts.get(value, 0) + 1


def _roles(document: Document) -> Sequence[tuple[str, bool]]:
    if not document.links:
        return ()
    holders = {mention.id for mention in document.mentions if mention.kind in HOLDERS}
    return [(link.kind, link.target in holders) for link in document.links if link.source in holders]


def _of_fillers(roles: Mapping[tuple[str, bool], int]) -> dict[str, int]:
    """Return how many fillers that are not events each role has."""
    return {role: roles.get((role, False), 0) for role, _ in roles}


def _unknown(
    what: str, system: Mapping[T, int], gold: Collection[T], key: Callable[[T], Value | None]
) -> Iterator[str]:
    keys = {key(value) for value in gold}
    unknown = {
        str(value): count for value, count in system.items() if count and value is not None and key(value) not in keys
    }
    names = sorted(str(value) for value in gold if value is not None)
    total, count = sum(system.values()), sum(unknown.values())
    if names and total and all(value is None for value, count in system.items() if count):
        yield f"gold has {what}s, such as {quoted(names[0])}, but no item of the system has one"
    if not unknown or not names:
        return
    first = sorted(unknown, key=lambda name: (-unknown[name], name))[:3]
    listed = []
    for name in first:
        near = closest(name, names, cutoff=0.6)
        listed.append(f"{quoted(name)} ({unknown[name]:,}{f'; nearest in gold: {quoted(near)}' if near else ''})")
    share = f"{count:,} of {total:,} items of the system ({100 * count / total:.1f}%)"
    has = f"{'has' if count == 1 else 'have'} a {what} that gold never has"
    yield f"{share} {has}: {', '.join([*listed, '...'] if len(unknown) > 3 else listed)}"


def _events(*sides: tuple[str, Mapping[tuple[str, bool], int], Mapping[str, int]]) -> Iterator[Finding]:
    """Note arguments that are events: links to events of a kind that others fill, too."""
    counts = []
    for side, links, fillers in sides:
        events = sum(count for (role, is_event), count in links.items() if is_event and fillers[role])
        if events:
            counts.append(f"{events:,} of {events + sum(fillers.values()):,} in {side}")
    if counts:
        yield EVENTS.at(f"arguments that are events are not scored: {', '.join(counts)}")


_GOLD_NAMES = frozenset({"gold", "key", "ref", "reference", "truth"})
_SYSTEM_NAMES = frozenset(
    {"pred", "preds", "predicted", "prediction", "predictions", "sys", "system", "output", "outputs", "response"}
)


def swapped(gold: str, system: str) -> Iterator[Finding]:
    """Note that the names of the two sides suggest that they are swapped."""
    golds, systems = _words(gold), _words(system)
    gold_is_gold, gold_is_system = golds & _GOLD_NAMES, golds & _SYSTEM_NAMES
    system_is_gold, system_is_system = systems & _GOLD_NAMES, systems & _SYSTEM_NAMES
    # A name may have both: pred_gold_mentions.
    like_gold = system_is_gold and not (gold_is_gold or system_is_system)
    like_system = gold_is_system and not (system_is_system or gold_is_gold)
    if like_gold or like_system:
        yield SWAPPED.at(f"the sides look swapped: GOLD is {quoted(gold)}, and SYSTEM is {quoted(system)}")


def _words(name: str) -> set[str]:
    stem = name.replace("\\", "/").rstrip("/").rpartition("/")[2]
    stem = stem.rpartition(".")[0] or stem
    return set(re.split(r"[^a-z]+", stem.lower()))
