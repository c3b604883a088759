"""The signature: what a score was made with, in one line that goes wherever the score goes."""

from collections.abc import Iterable, Mapping

from karat import __version__
from karat.protocols.protocol import Protocol


def conditions(
    protocol: Protocol, *, units: Iterable[str], topics: str | None, reading: str | None = None, link_order: str | None
) -> str:
    """Return the signature without gold's fingerprint: version, protocol, settings, topics and unit of offsets.

    `reading` is the rule by which the system's items got their places, if its files have none, `link_order` a hash of
    the order of gold's links, on which the scores of some protocols depend.
    """
    name = protocol.name if protocol.digest is None else f"{protocol.name}@sha256:{protocol.digest}"
    settings = [f"{key}={value}" for key, value in protocol.settings().items()]
    parts = [
        f"karat={__version__}",
        f"protocol={name}",
        *settings,
        *([] if topics is None else [f"topics={topics}"]),
        *([] if reading is None else [reading]),
        f"unit={'+'.join(sorted(units))}",
        *([] if link_order is None or not protocol.link_order else [f"links={link_order}"]),
    ]
    return "|".join(parts)


def work_signature(settings: Mapping[str, str], *, topics: str | None, words: str, corpus: str) -> str:
    """Return the signature of work that is not a score: version, kind, settings, topics, lemmatiser, corpus."""
    parts = {"karat": __version__, **settings, **({} if topics is None else {"topics": topics})}
    return "|".join(f"{key}={value}" for key, value in {**parts, "words": words, "corpus": corpus}.items())
