"""karat evaluates event extraction and coreference against gold annotations."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from karat.api.comparing import Comparison, compare
    from karat.api.documents import from_bio, from_rows, from_spacy
    from karat.api.scoring import Result, Results, Scorer, coref, read, score
    from karat.model import Cluster, Document, Link, Mention
    from karat.problems import KaratError, UsageError

__version__ = "0.1.0"
__all__ = [
    "Cluster",
    "Comparison",
    "Document",
    "KaratError",
    "Link",
    "Mention",
    "Result",
    "Results",
    "Scorer",
    "UsageError",
    "__version__",
    "compare",
    "coref",
    "from_bio",
    "from_rows",
    "from_spacy",
    "read",
    "score",
]

_HOMES = {
    **dict.fromkeys(("KaratError", "UsageError"), "problems"),
    **dict.fromkeys(("Cluster", "Document", "Link", "Mention"), "model"),
    **dict.fromkeys(("Result", "Results", "Scorer", "coref", "read", "score"), "api.scoring"),
    **dict.fromkeys(("Comparison", "compare"), "api.comparing"),
    **dict.fromkeys(("from_bio", "from_rows", "from_spacy"), "api.documents"),
}


def __getattr__(name: str) -> Any:
    """Import a public name on first use, so that `karat --help` starts fast."""
    if name not in _HOMES:
        raise AttributeError(f"module 'karat' has no attribute {name!r}")
    from importlib import import_module

    public = globals()[name] = getattr(import_module(f"karat.{_HOMES[name]}"), name)
    return public


def __dir__() -> list[str]:
    return __all__
