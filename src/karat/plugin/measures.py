"""Measures: families, the entries of a result that they offer, and the outcomes behind each count."""

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Generic, Protocol, TypeVar, get_args

from msgspec import Struct
from msgspec.structs import astuple

from karat.counts import Counts, Scores, ScoreValues
from karat.model import ClusterKey, Mention, Value
from karat.plugin.arguments import ArgumentItem, ArgumentPart, DocumentArguments
from karat.plugin.protocols import Law, Representative, UnitOfEvaluation
from karat.plugin.tables import AlignmentSpec, TableSpec
from karat.problems import Finding, Rule, nearest

T = TypeVar("T")
C = TypeVar("C", bound=Counts)
P = TypeVar("P")


class Card(Struct, frozen=True):
    """The description of a family of measures."""

    title: str
    rows: dict[str, str]
    """Ids (or patterns of ids) of its measures, each with what it counts."""
    formula: str
    citation: str
    symbols: dict[str, str] = {}
    """Symbols of the formula, each with its meaning."""
    traps: tuple[str, ...] = ()
    """Mistakes that readers of the score make."""
    departures: tuple[str, ...] = ()
    """Differences between paper and program, and karat's choice."""
    outcomes: Mapping[str, str] = {}
    """Classes of outcomes beyond `match`, `miss` and `spurious`, each with its meaning."""
    laws: tuple[Law, ...] = ()


class ElementItem(Struct, frozen=True, gc=False):
    """An item with attributes that is not a mention, such as an entity, a relation or an event."""

    kind: str
    attributes: Mapping[str, Value]


class ClusterItem(Struct, frozen=True, gc=False):
    """A cluster as an item of an outcome. `--details` looks up its mentions by `id`, which is a `ClusterKey`."""

    id: Hashable
    size: int
    """The number of its mentions that count."""


class LinkItem(Struct, frozen=True, gc=False):
    """A link between two clusters as an item of an outcome."""

    kind: str
    source: ClusterKey
    target: ClusterKey


class RelationItem(Struct, frozen=True, gc=False):
    """A relation between two mentions as an item of an outcome."""

    kind: str
    """Its label."""
    source: Mention
    target: Mention

    @property
    def attributes(self) -> Mapping[str, Value]:
        """None: attributes belong to mentions."""
        return {}


class TreeItem(Struct, frozen=True, gc=False):
    """A tree of events as an item of an outcome."""

    root: ClusterKey
    events: tuple[ClusterKey, ...]
    """All its events, each after its parent."""


Item = Mention | ElementItem | ClusterItem | LinkItem | RelationItem | ArgumentItem | TreeItem
"""The subject of an outcome."""


class Outcome(Struct, Generic[C], frozen=True, gc=False):
    """A gold item, a system item, or the two that were matched, and what that contributed to the counts."""

    gold: Item | None
    system: Item | None
    counts: C
    label: str = ""
    """Its class, if its sides do not tell: one that the card of the family describes."""
    document: str | None = None
    """The document it is in, if a table of several documents still knows."""

    @property
    def outcome(self) -> str:
        """Its class: `match`, `miss`, `spurious`, or one that the family describes."""
        return self.label or ("miss" if self.system is None else "spurious" if self.gold is None else "match")


def graded(earned: float, possible: float, *, nothing: str) -> str:
    """The class of an outcome that can be right in part: `match`, `partial`, or `nothing` if it earned nothing."""
    return nothing if not earned else "match" if earned == possible else "partial"


class Detail(Struct, frozen=True):
    """An entry of `--details`: an item, or a part of one, with the attributes that can be confused."""

    part: str
    """Its kind: an entity, a mention of it, an argument, ..."""
    gold: ElementItem | None
    system: ElementItem | None
    listed: Mapping[str, Any] | None = None
    """The listed entry; None: it is a part of the last item that was listed, and counts in the confusions."""
    gold_id: str | None = None
    """The cluster that it is, or the mention."""
    system_id: str | None = None
    wrong: tuple[str, ...] = ()
    """Attributes of a matched item that are wrong."""
    lost: float = 0.0
    """The credit that it missed."""
    is_nominal: bool = False
    """True if the protocol counts it as an error though nothing of it is wrong: so it counts gold against itself."""
    is_compared: bool = True
    """True if its attributes count in the confusions."""
    has_right_extent: bool | None = None
    """For a matched part with an extent: whether that is right."""


class Measure(Struct, Generic[T, C], frozen=True):
    """A measure. A subclass has an `id` and writes `outcomes`, and `count` where there is a shorter way."""

    table: TableSpec[T]
    """The table it reads."""

    @property
    def id(self) -> str:
        """Its name, from the command line to the JSON: `family.measure`."""
        raise NotImplementedError

    def count(self, table: T) -> C:
        """The counts of a unit: by default the sum of its outcomes."""
        return self.counts_type().summed(astuple(outcome.counts) for outcome in self.outcomes(table))

    def outcomes(self, table: T) -> Iterator[Outcome[C]]:
        """The contributions to the counts, item by item."""
        raise NotImplementedError

    def divided(self, table: T) -> Iterator[Outcome[C]]:
        """The outcomes that a breakdown adds up by their items: by default all."""
        return self.outcomes(table)

    @property
    def hidden(self) -> bool:
        """True if it is not part of the result, and only composites use it."""
        return False

    @property
    def fields(self) -> tuple[str, ...]:
        """Fields, beside the attributes of mentions, by which its outcomes can be broken down."""
        return ()

    @property
    def attributes(self) -> tuple[str, ...]:
        """Attributes of mentions that must be right to earn everything; the first that is wrong is the error."""
        return ()

    def notes(self, table: T, counts: C) -> "Iterable[Finding | Unmatchable | Tally]":
        """Notes for readers of this unit's score."""
        del table, counts
        return ()

    def notes_on_total(self, total: C) -> Iterable[Finding]:
        """Notes for readers of the result, from the sum of all units; gold has mentions."""
        del total
        return ()

    def differences(self, table: T) -> Mapping[str, int]:
        """Count what makes the score of a unit differ from that of the same measure in other protocols.

        A run of several protocols reports the totals.
        """
        del table
        return {}

    def counts_type(self) -> type[C]:
        """The counts that it returns."""
        return _counts_type(type(self))


@cache
def _counts_type(measure: type[Measure[Any, Any]]) -> type[Any]:
    """Return the counts among the type parameters of the nearest base: `Measure[Table, Counts]`."""
    parameters = [
        parameter
        for cls in measure.__mro__
        for base in getattr(cls, "__orig_bases__", ())
        for parameter in get_args(base)
        if isinstance(parameter, type) and issubclass(parameter, Counts)
    ]
    if not parameters:
        raise TypeError(f"{measure.__name__} does not declare its counts: derive it from Measure[Table, Counts]")
    return parameters[0]


class Unmatchable(Struct, frozen=True):
    """A note on items that cannot be matched, whatever the other side has; a run reports the totals."""

    items: str
    count: int


class Tally(Struct, frozen=True):
    """A note on the number of some items of a unit; a run reports the total once, whichever measures count them."""

    rule: Rule
    items: str
    count: int


class ArgumentMeasure(Measure[T, C], frozen=True):
    """A measure whose errors are errors of arguments: its table declares `errors_of = "arguments"`."""

    @property
    def parts(self) -> tuple[ArgumentPart, ...]:
        """Parts of an argument that it compares."""
        raise NotImplementedError

    def arguments(self, table: T) -> Iterator[DocumentArguments]:
        """The arguments behind its outcomes, document by document."""
        raise NotImplementedError

    @property
    def attributes(self) -> tuple[str, ...]:
        """The type, if it must be right."""
        return ("type",) if "type" in self.parts else ()


class DetailedMeasure(Measure[T, C], frozen=True):
    """A measure whose `details` are listed by `--details` in place of its outcomes.

    Errors of elements are found from them: its table declares `errors_of = "elements"`.
    """

    def details(self, table: T) -> Iterable[Detail]:
        """Each item, followed by its parts."""
        raise NotImplementedError


class Composite(Struct, frozen=True):
    """A score that is a function of other measures' finished scores; it has no counts of its own."""

    id: str
    of: tuple[str, ...]
    """Ids of those measures, which come before it."""
    combine: Callable[[Sequence[ScoreValues]], Scores]
    """From their scores, finished and with their counts, to its own; a function of a module, not a lambda, so that
    it can be sent to another process."""


class Unscored(Struct, frozen=True):
    """A measure that cannot be scored in this run, and why.

    Beside a measure of the same id, it explains why its score is undefined.
    """

    id: str
    reason: str


Entry = Measure[Any, Any] | Composite | Unscored
"""An entry of the result, as a family offers it."""


class Align(Protocol):
    """Makes the alignment that a protocol calls by a name."""

    def __call__(
        self, name: str, *, agree: Sequence[str] | None = None, rewarded: Sequence[str] | None = None
    ) -> AlignmentSpec:
        """The alignment of that name.

        `agree` are the attributes on which aligned mentions must agree (default: those that the protocol names).
        `rewarded` are those that add to the similarity, if the alignment rewards attributes (default: all that can be
        scored).
        """
        ...


OFFICIAL = ("type", "realis")
"""The attributes that the official scorers of event nuggets know."""
NOT_SCORED = {"id", "ids", "text", "confidence", "confidences", "optional", "relation", "sentence", "validated"}
NOT_IN_GOLD = Rule("attribute-unknown", "fatal", "Only attributes of at least one gold mention can be scored.")


class Setting(Struct, frozen=True):
    """The facts of a run that a family may use to choose its measures."""

    align: Align
    family: "Callable[[str], Family[Any]]"
    """Finds a family by its name."""
    unit: UnitOfEvaluation = "document"
    collapse: Representative | None = None
    """The mention that represents its cluster within a document; None: clusters are not collapsed."""
    attributes: Sequence[str] = ()
    """Attributes of at least one gold mention: type, realis, then by name."""
    links: Sequence[str] = ()
    """Kinds of links that gold has between mentions that are scored, by name."""
    gold_kinds: Collection[str] = ()
    """Kinds of mentions and clusters that gold has anywhere."""
    system_kinds: Collection[str] = ()
    gold_clustered: Collection[str] = ()
    """Kinds of mentions that gold puts into clusters."""

    def table(self, family: str, **options: Any) -> TableSpec[Any]:
        """Return the table of a family, for measures of another one: `setting.table("coref", alignment="any")`."""
        make = self.family(family).table
        if make is None:
            raise TypeError(f"the family {family!r} offers no table")
        return make(self, **options)

    def scored(self, named: Sequence[str] = ()) -> tuple[str, ...]:
        """The attributes to score: those named, or type and realis where gold has them.

        `all` stands for every attribute that gold has, except ids, confidences and text.
        """
        if tuple(named) == ("all",):
            return scorable(self.attributes)
        for name in named:
            if name not in self.attributes:
                raise NOT_IN_GOLD.error(f"no gold mention has the attribute {name!r}. {nearest(name, self.attributes)}")
        return tuple(dict.fromkeys(named)) or tuple(name for name in OFFICIAL if name in self.attributes)


def scorable(attributes: Iterable[str]) -> tuple[str, ...]:
    """The attributes that say something about what a mention refers to: no ids, confidences or text."""
    return tuple(name for name in attributes if name not in NOT_SCORED)


class Family(Struct, Generic[P], frozen=True):
    """A family of measures, as its module offers it under the name `FAMILY`."""

    card: Card
    parameters: type[P]
    """A struct: what an entry in a protocol's `[[measures]]` may say."""
    measures: Callable[[P, Setting], Sequence[Entry]]
    """The entries of one run."""
    table: Callable[..., TableSpec[Any]] | None = None
    """From the setting and options by name to the table that its measures read, for measures of other families."""
    weights: Callable[[P], Mapping[str, Mapping[str, Any]]] | None = None
    """Weights that its formulas use, by task (`karat protocols NAME --weights`)."""
