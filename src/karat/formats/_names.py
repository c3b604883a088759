"""Names of files as ids of documents."""

from functools import lru_cache
from pathlib import Path


@lru_cache(maxsize=16)  # a reader asks several times about the file that it reads
def stem(file: str, suffixes: tuple[str, ...]) -> str:
    """The name of a file without its folder, `.gz`, and a suffix of its format (or, if it has none, any suffix)."""
    name = Path(file).name
    if name.lower().endswith(".gz"):
        name = name[: -len(".gz")]
    for suffix in sorted(suffixes, key=len, reverse=True):
        if name.lower().endswith(suffix) and len(name) > len(suffix):
            return name[: -len(suffix)]
    return Path(name).stem
