"""The two limits of karat, which is made for files that people have.

Work that grows with the square of a crowded document is refused with its number of pairs (`too-many-pairs`), and an
input that is too large to hold with its size (`input-too-large`). Files of strangers are scored in a child process with
limits of memory and CPU time, which covers everything else.
"""

from karat.problems import KaratError, Origin, Rule

MOST_PAIRS = 1_000_000
"""Candidate pairs of one document. The most of any corpus at hand are 1,780 (all of ECB+ as one document), else 257."""
TOO_MANY_PAIRS = Rule(
    "too-many-pairs", "fatal", "Check that nothing is repeated many times, or use a part of the corpus."
)
MAX_BYTES = 4_000_000_000
"""The default size limit of standard input, pipes and decompressed files, per argument."""
INPUT_TOO_LARGE = Rule("input-too-large", "fatal", "Raise --max-bytes if the input is meant to be that large.")


def check_pairs(count: int, what: str, *, where: str, verb: str = "compares", origin: Origin | None = None) -> None:
    """Refuse work on more than `MOST_PAIRS`: "document 'd1' has 2,000,000 pairs of overlapping mentions"."""
    if count > MOST_PAIRS:
        message = f"{where} has {count:,} {what}; karat {verb} {MOST_PAIRS:,} at most"
        raise KaratError(TOO_MANY_PAIRS.at(message, origin=origin))
