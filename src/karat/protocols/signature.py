"""The signature: what a score was made with, in one line that goes wherever the score goes."""

from collections.abc import Iterable, Mapping

from karat import __version__
from karat.corpus.fingerprint import Fingerprint
from karat.protocols.protocol import Protocol


def signature(protocol: Protocol, *, units: Iterable[str], fingerprint: Fingerprint, topics: str | None) -> str:
    """Version, protocol, what was set, the topics, the unit of offsets, and the fingerprint of gold.

    If scores depend on it, also a hash of the order of gold's links.
    """
    name = protocol.name if protocol.digest is None else f"{protocol.name}@sha256:{protocol.digest}"
    settings = [f"{key}={value}" for key, value in protocol.settings().items()]
    parts = [
        f"karat={__version__}",
        f"protocol={name}",
        *settings,
        *([] if topics is None else [f"topics={topics}"]),
        f"unit={'+'.join(sorted(units))}",
        f"gold={fingerprint}",
        *([f"links={fingerprint.link_order}"] if protocol.link_order else []),
    ]
    return "|".join(parts)


def work_signature(settings: Mapping[str, str], *, topics: str | None, words: str, corpus: str) -> str:
    """Return the signature of work that is not a score: version, kind, settings, topics, lemmatiser, corpus."""
    parts = {"karat": __version__, **settings, **({} if topics is None else {"topics": topics})}
    return "|".join(f"{key}={value}" for key, value in {**parts, "words": words, "corpus": corpus}.items())
