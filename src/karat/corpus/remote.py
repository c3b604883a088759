"""Files that are named by a URL, such as `s3://bucket/gold/`: fsspec reads them, where it is installed.

All processes that read a corpus must reach its files; a URL means the same on each machine of a cluster.
"""

import re
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from karat.formats import MISSING
from karat.problems import KaratError, Rule, quoted

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

NO_LIBRARY = Rule("fsspec-missing", "fatal", "Install it: pip install fsspec, and the package for your storage.")
UNREACHABLE = Rule("url-unreadable", "fatal", "Check the URL, and that you may read it.")


def files_at(url: str) -> list[str]:
    """Return the URL of a file, or those of the files below a folder, sorted and without hidden ones."""
    system, path = _located(url)
    try:
        if system.isdir(path):
            paths = sorted(system.find(path))
            visible = [file for file in paths if not re.search(r"(?:^|/)\.", file[len(path) :])]
            return [system.unstrip_protocol(file) for file in visible]
        if system.exists(path):
            return [url]
    except Exception as error:
        raise _unreadable(url, error) from None
    raise MISSING.error("there is no such file or folder", file=url)


def open_url(url: str) -> BinaryIO:
    """Open a file to read its bytes."""
    system, path = _located(url)
    try:
        return cast("BinaryIO", system.open(path, "rb"))
    except Exception as error:
        raise _unreadable(url, error) from None


def state_of(url: str) -> tuple[int, int]:
    """Return the size of a file, and a number that changes when the file does."""
    system, path = _located(url)
    try:
        return int(system.size(path) or 0), int(system.ukey(path)[:15], 16)
    except Exception as error:
        raise _unreadable(url, error) from None


def _located(url: str) -> "tuple[AbstractFileSystem, str]":
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        raise NO_LIBRARY.error(f"{quoted(url)} is a URL, and fsspec is not installed") from None
    try:
        located: tuple[Any, str] = url_to_fs(url)
    except Exception as error:
        raise _unreadable(url, error) from None
    return located


def _unreadable(url: str, error: Exception) -> KaratError:
    """Describe an error; each kind of storage has its own."""
    if isinstance(error, FileNotFoundError):
        message = "there is no such file"
    elif isinstance(error, ImportError | ValueError):
        message = "this kind of URL needs a package that is not installed, or is not known"
    else:
        status = getattr(error, "status", None)
        message = f"the server answers with status {status}" if status else "the server cannot be reached"
    return UNREACHABLE.error(message, file=url)
