"""The files of a folder and those below it; what is in it and is not read is reported, never passed over in silence."""

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

from karat.errors import KaratError, Report, Rule

UNREADABLE = Rule("file-unreadable", "fatal", "Check that it is a file that you may read.")
FOLDER_LINK = Rule(
    "folder-link", "fault", "Links to folders are not followed: name the folder itself, or list both in an @LIST."
)
DANGLING_LINK = Rule("link-dangling", "fault", "Restore the file that the link names, or remove the link.")
SPECIAL = Rule("file-special", "note", "Name it on the command line if it is to be read.")


def files_in(folder: Path, refuse: Callable[[KaratError], None], report: Report) -> list[Path]:
    """The files, sorted; `refuse` is called for each folder and file that cannot be looked at. Hidden ones are left."""
    return sorted(_walk(folder, refuse, report))


def _walk(folder: Path, refuse: Callable[[KaratError], None], report: Report) -> Iterator[Path]:
    try:
        with os.scandir(folder) as entries:
            names = sorted(entry.name for entry in entries if not entry.name.startswith("."))
    except OSError as error:
        refuse(UNREADABLE.error(f"cannot list this folder: {error.strerror}", file=shown(folder)))
        return
    for path in (folder / name for name in names):
        try:
            mode = path.stat().st_mode
        except FileNotFoundError:
            report(DANGLING_LINK.at("this link leads nowhere, and nothing was read", file=shown(path)))
            continue
        except OSError as error:
            refuse(UNREADABLE.error(error.strerror or str(error), file=shown(path)))
            continue
        if stat.S_ISREG(mode):
            yield path
        elif not stat.S_ISDIR(mode):
            report(SPECIAL.at("this is not a file (a pipe, socket or device), and was not read", file=shown(path)))
        elif path.is_symlink():
            report(FOLDER_LINK.at("this is a link to a folder, and was not read", file=shown(path)))
        else:
            yield from _walk(path, refuse, report)


def shown(path: Path) -> str:
    """A path that can be printed: a name whose bytes are not UTF-8 has replacement marks."""
    return os.fsencode(path).decode("utf-8", "replace")
