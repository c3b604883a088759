"""The contract between karat and its plug-ins: the bases of measures, tables, formats, filters and protocols.

Everything that a plug-in may offer beyond what it must is a field or method here, with a default. A package offers its
plug-ins through entry points:

    karat.measures       a `Family` of measures
    karat.formats        a `Format`
    karat.protocols      the path of a protocol file (see `ProtocolFile`)
    karat.filters        a subclass of `Filter`
    karat.similarities   a `Similarity`: how alike two mentions are
    karat.matchings      a `Matching`: how pairs are chosen among candidates
    karat.analysers      a `WordAnalyser`: lemmas and heads, for baselines

`karat.testing.check` runs the laws on any of them.
"""

from karat.plugin.formats import (
    Block,
    Contents,
    Format,
    ReadOptions,
    ReportLoss,
    Sources,
    TokenTables,
    Write,
    WriteOptions,
)
from karat.plugin.measures import (
    Align,
    ArgumentItem,
    Card,
    ClusterItem,
    Composite,
    Detail,
    ElementItem,
    Family,
    Item,
    LinkItem,
    Measure,
    Outcome,
    Row,
    Setting,
    TreeItem,
    Unscored,
    graded,
    scorable,
)
from karat.plugin.protocols import (
    AlignmentChoice,
    Averages,
    Collapse,
    Comparison,
    CorpusTransform,
    DocumentCheck,
    Filter,
    GoldOnly,
    Law,
    PairTransform,
    Parameter,
    ProtocolFile,
    Representative,
    SystemOnly,
    Ties,
    UnitOfEvaluation,
)
from karat.plugin.tables import (
    AlignedPairs,
    AlignmentSpec,
    Alike,
    Candidate,
    Counted,
    DocumentSimilarity,
    ErrorsOf,
    Match,
    Matching,
    Similarity,
    Tables,
    TableSpec,
)
from karat.plugin.words import PartOfSpeech, Word, WordAnalyser

__all__ = [
    "Align",
    "AlignedPairs",
    "AlignmentChoice",
    "AlignmentSpec",
    "Alike",
    "ArgumentItem",
    "Averages",
    "Block",
    "Candidate",
    "Card",
    "ClusterItem",
    "Collapse",
    "Comparison",
    "Composite",
    "Contents",
    "CorpusTransform",
    "Counted",
    "Detail",
    "DocumentCheck",
    "DocumentSimilarity",
    "ElementItem",
    "ErrorsOf",
    "Family",
    "Filter",
    "Format",
    "GoldOnly",
    "Item",
    "Law",
    "LinkItem",
    "Match",
    "Matching",
    "Measure",
    "Outcome",
    "PairTransform",
    "Parameter",
    "PartOfSpeech",
    "ProtocolFile",
    "ReadOptions",
    "ReportLoss",
    "Representative",
    "Row",
    "Setting",
    "Similarity",
    "Sources",
    "SystemOnly",
    "TableSpec",
    "Tables",
    "Ties",
    "TokenTables",
    "TreeItem",
    "UnitOfEvaluation",
    "Unscored",
    "Word",
    "WordAnalyser",
    "Write",
    "WriteOptions",
    "graded",
    "scorable",
]
