"""Intake: from a folder of submissions to systems, each with its track, its site and its files."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from karat.campaign.archives import Limits
from karat.campaign.layouts import (
    LAYOUT,
    Layout,
    Submission,
    Track,
    ace,
    ace_archive,
    ace_depth,
    bare,
    description_owner,
    is_language,
    plain,
)
from karat.campaign.packages import Package, contents
from karat.errors import KaratError, Rule

NO_FOLDER = Rule("submissions-missing", "fatal", "Name the folder that has one folder or archive for each submission.")
NONE = Rule("submissions-none", "fatal", "Put one folder, tar or zip for each submission into the folder.")
TWICE = Rule("submission-twice", "fatal", "Keep one of them, or give each a name of its own.")
PRIMARIES = Rule("primary-twice", "fatal", "Name one of them primary and the others contrastive.")

OnPackage = Callable[[int, int], None]
"""Called after each package with the number done and the total."""


def submissions_in(
    folder: str, limits: Limits, *, layout: Layout = "auto", on_package: OnPackage | None = None
) -> list[Submission]:
    """All submissions of a folder, by track and system; those that are refused say why."""
    root = Path(folder)
    if not root.is_dir():
        raise NO_FOLDER.error("there is no such folder", file=folder)
    entries = _entries(root)
    owners = {owner.lower() for path in entries if path.is_file() and (owner := description_owner(path.name))}
    packages = [path for path in entries if path.is_dir() or description_owner(path.name) is None]
    found: list[Submission] = []
    for number, path in enumerate(packages, 1):
        found += _submissions(path, limits, layout)
        if on_package is not None:
            on_package(number, len(packages))
    if not found:
        raise NONE.error("there is no submission in this folder", file=folder)
    found = [one._replace(described=one.described or bool(owners & _names(one))) for one in found]
    return sorted(_checked(found), key=lambda one: (one.key, one.package.name))


def _names(submission: Submission) -> set[str]:
    return {submission.site.lower(), submission.system.lower(), bare(submission.package.path).lower()}


def _submissions(path: Path, limits: Limits, layout: Layout) -> Iterator[Submission]:
    if layout != "plain" and path.is_dir() and not path.is_symlink():
        if is_language(path.name):
            yield from _ace_language(path, limits, described=False)
            return
        children = _entries(path)
        if languages := [child for child in children if child.is_dir() and is_language(child.name)]:
            described = any(description_owner(child.name) is not None for child in children)
            for child in languages:
                yield from _ace_language(child, limits, described=described)
            return
    package = Package(path)
    name = bare(path) if package.is_folder or package.is_archive else bare(path).partition(".")[0] or bare(path)
    members = contents(package, limits)
    if isinstance(members, KaratError):
        yield Submission(package, Track(), name, name, problems=(members.finding,))
        return
    depth = None if layout == "plain" else ace_depth([*members])
    if depth is not None:
        yield from ace_archive(package, members, depth)
    elif layout == "ace":
        problem = LAYOUT.at("this is not in the layout of the ACE 2005 plan", file=package.name)
        yield Submission(package, Track(), name, name, problems=(problem,))
    else:
        yield plain(package, name, members)


def _ace_language(folder: Path, limits: Limits, *, described: bool) -> Iterator[Submission]:
    """The systems in the folder of a language, each a package of its own: one that is hostile spoils no other."""
    for task in _folders(folder):
        owners = [description_owner(path.name) for path in (*_entries(folder), *_entries(task)) if path.is_file()]
        for path in _entries(task):
            if path.is_file() and description_owner(path.name) is not None:
                continue
            package = Package(path)
            members = contents(package, limits)
            if isinstance(members, KaratError):
                submission = ace(package, folder.name, bare(task), bare(path), {}, "")
                submission = submission._replace(problems=(members.finding,))
            else:
                submission = ace(package, folder.name, bare(task), bare(path), members, "")
            is_owner = submission.site.lower() in {owner.lower() for owner in owners if owner}
            yield submission._replace(described=submission.described or described or is_owner)


def _folders(folder: Path) -> list[Path]:
    return [path for path in _entries(folder) if path.is_dir()]


def _entries(folder: Path) -> list[Path]:
    """What is in a folder, without hidden files; nothing, if it cannot be listed: then its package is refused."""
    try:
        return sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    except OSError:
        return []


def _checked(found: Sequence[Submission]) -> Iterator[Submission]:
    """Submissions, with problems that only all of them together show."""
    is_ace = any(one.track.language for one in found)
    systems = Counter(one.key for one in found)
    primaries = Counter((one.track, one.site.lower()) for one in found if one.condition == "primary")
    numbers: Counter[tuple[str, str, str]] = Counter()
    for one in sorted(found, key=lambda one: one.package.name):
        problems = [*one.problems]
        place = one.package.name
        if problems:  # what is wrong with it alone comes first
            pass
        elif is_ace and not one.track.language:
            problems.append(LAYOUT.at("this is not in the layout of the ACE 2005 plan", file=place))
        elif systems[one.key] > 1:
            problems.append(TWICE.at(f"there are {systems[one.key]} submissions called {one.system}", file=place))
        elif is_ace and one.condition == "primary" and primaries[one.track, one.site.lower()] > 1:
            problems.append(PRIMARIES.at(f"{one.site} has more than one primary system here", file=place))
        numbers[one.key] += 1
        number = f" ({numbers[one.key]})" if systems[one.key] > 1 else ""
        yield one._replace(system=f"{one.system}{number}", problems=tuple(problems))
