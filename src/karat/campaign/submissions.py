"""Submissions: from a folder of packages to systems, each with its track, its site and its files.

There are two layouts: `system/files`, and that of the ACE 2005 plan, `language/task/SITEn_primary/files`.
"""

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import count
from pathlib import Path
from typing import Literal, NamedTuple

from karat.campaign.children import Children
from karat.campaign.packages import SUFFIXES, Limits, Package
from karat.corpus.interface import Progress
from karat.corpus.paths import shown
from karat.problems import Finding, Rule, nearest, quoted, visible

NO_FOLDER = Rule("submissions-missing", "fatal", "Name the folder that has one folder or archive for each submission.")
NONE = Rule("submissions-none", "fatal", "Put one folder, tar or zip for each submission into the folder.")
TWICE = Rule("submission-twice", "fatal", "Keep one of them, or give each a name of its own.")
PRIMARIES = Rule("primary-twice", "fatal", "Name one of them primary and the others contrastive.")
LANGUAGE = Rule("ace-language", "fatal", "Name the folder arabic, chinese or english (ACE 2005 plan, 3.7.1).")
TASK = Rule("ace-task", "fatal", "Submit only tasks that the evaluation supports (ACE 2005 plan, Table 8).")
SYSTEM = Rule("ace-system", "fatal", "Name the folder SITEn_primary or SITEn_contrastiveM (ACE 2005 plan, 3.7.1).")
SITE = Rule("ace-site", "fatal", "Pack the systems of a site into an archive or folder that has the name of the site.")
LAYOUT = Rule("layout-other", "fatal", "Pack it like the others, or choose the layout of all with --layout.")
NO_FILES = Rule("submission-empty", "fatal", "Submit at least one file of system output.")

Condition = Literal["primary", "contrastive"]
Layout = Literal["auto", "ace", "plain"]
"""`auto`: that of most entries."""

_BOTH = frozenset({"edr", "rdr", "emd", "rmd"})
_ALL = _BOTH | {"val", "tern", "vdr", "vmd"}
TASKS: Mapping[str, frozenset[str]] = {"arabic": _BOTH, "chinese": _ALL, "english": _ALL}
"""The tasks of each language (Table 8)."""

DESCRIPTIONS = (*(f"system{joint}description" for joint in (" ", "_", "-", "")), "description")


class Track(NamedTuple):
    """Systems that are ranked together: a task in a language; without either, there is one track for all."""

    language: str = ""
    task: str = ""

    def __str__(self) -> str:
        return f"{self.language}/{self.task}" if self.language else "all"

    def to_dict(self) -> dict[str, str | None]:
        return {"language": self.language or None, "task": self.task or None}


class Submission(NamedTuple):
    """The output of one system for one track."""

    package: Package
    track: Track
    system: str
    site: str
    condition: Condition = "primary"
    members: Mapping[str, str] = {}
    """The names of its files in the package, with their hashes."""
    prefix: str = ""
    """The common start of the names of its files."""
    described: bool = False
    """True if there is a description of the system (ACE 2005 plan, 3.7.2)."""
    is_own: bool = True
    """False: in the plan's layout, it is in an archive or a folder that does not have the name of its site."""
    problems: tuple[Finding, ...] = ()
    """Reasons why it is refused before its files are read."""

    @property
    def key(self) -> tuple[str, str, str]:
        """The unique key that it is sorted by."""
        return self.track.language, self.track.task, self.system

    def digest(self) -> str:
        """Return the hash of its files and their names, wherever they are."""
        listed = sorted((name.removeprefix(self.prefix), digest) for name, digest in self.members.items())
        return hashlib.sha256(repr(listed).encode()).hexdigest()


class SystemName(NamedTuple):
    """The parts of a system's name that matter."""

    numbered: str
    """The name before the condition: in the plan's layout, that of the site with the number of the system."""
    condition: Condition

    @property
    def site(self) -> str:
        """Return the site in the plan's layout."""
        return _without_number(self.numbered) or self.numbered[0]


def system_name(name: str) -> SystemName | None:
    """Return the parts of a name such as `NIST2_contrastive1`; None if it has no such form."""
    numbered, _, kind = name.rpartition("_")
    condition = _without_number(kind).lower()
    if not numbered or condition not in ("primary", "contrastive"):
        return None
    return SystemName(numbered, "primary" if condition == "primary" else "contrastive")


def _without_number(text: str) -> str:
    return text.rstrip("0123456789")


def _package_name(path: Path) -> str:
    """Return the name of a package without its suffix, as it is printed; undecodable bytes are replacement marks."""
    name = visible(shown(Path(path.name)))
    for suffix in sorted(SUFFIXES, key=len, reverse=True):
        if name.lower().endswith(suffix):
            return name[: -len(suffix)]
    return name


def description_owner(name: str) -> str | None:
    """Return the site or system that a description is of, empty if its name does not say; None: it is none."""
    stem = name.rpartition("/")[2].partition(".")[0]
    for ending in DESCRIPTIONS:
        if stem[-len(ending) :].lower() == ending:
            owner = stem[: -len(ending)]
            if not owner or (len(owner) > 1 and owner[-1] in " _-"):
                return owner[:-1]
    return None


def _is_description(path: Path) -> bool:
    return description_owner(path.name) is not None and path.is_file()


def _is_language(name: str) -> bool:
    return name.lower() in TASKS


def submissions_in(
    folder: str,
    limits: Limits,
    children: Children,
    *,
    layout: Layout = "auto",
    progress: Progress | None = None,
) -> list[Submission]:
    """Return all submissions of a folder, by track and system; those that are refused have problems.

    Packages are read in child processes.
    """
    root = Path(folder)
    if not root.is_dir():
        raise NO_FOLDER.error("there is no such folder", file=folder)
    entries = _entries(root)
    owners = {owner.lower() for path in entries if path.is_file() and (owner := description_owner(path.name))}
    places = [place for path in entries if not _is_description(path) for place in _places(path, layout)]
    contents = dict(children.map(partial(_contents, limits), places, progress))
    found = []
    in_plan: dict[Path, bool] = {}
    for place in places:
        for submission in _submissions(place, contents[place], layout):
            if not submission.problems:
                in_plan[place.entry] = bool(submission.track.language)
            described = submission.described or bool(owners & _names(submission))
            is_own = not submission.track.language or _is_of(place.entry, submission.site)
            found.append(submission._replace(described=described, is_own=is_own))
    if not found:
        raise NONE.error("there is no submission in this folder", file=folder)
    is_ace = layout == "ace" or (layout == "auto" and 2 * sum(in_plan.values()) >= len(in_plan))
    return sorted(_checked(found, is_ace), key=lambda submission: (submission.key, submission.package.name))


def _is_of(entry: Path, site: str) -> bool:
    """Return whether an entry of SUBMISSIONS has the name of a site (such as `NIST-2`) or is a language's folder."""
    name, site = _package_name(entry).lower(), site.lower()
    return name in TASKS or (name.startswith(site) and not name[len(site) :][:1].isalpha())


def _names(submission: Submission) -> set[str]:
    return {submission.site.lower(), submission.system.lower(), _package_name(submission.package.path).lower()}


class _Place(NamedTuple):
    """A package, and, where folders have the plan's layout, its language and task."""

    path: Path
    entry: Path
    """The entry of the folder of submissions that it is, or is in."""
    language: str = ""
    task: str = ""
    """Empty: it is not in the place of a system."""
    described: bool = False
    owners: frozenset[str] = frozenset()
    """Sites whose descriptions are beside the package."""


_Contents = Mapping[str, str] | Finding
"""The hashes of the files of a package by their names, or the reason why it is refused."""


def _contents(limits: Limits, place: _Place) -> _Contents:
    return Package(place.path).contents(limits)


def _places(path: Path, layout: Layout) -> Iterator[_Place]:
    """Yield the packages of an entry: itself or, in the plan's layout, each of its systems and whatever is beside them.

    Each system is a package of its own: one that is hostile spoils no other.
    """
    if layout != "plain" and _is_folder(path):
        if _is_language(path.name):
            yield from _places_of_language(path, path, described=False)
            return
        children = _entries(path)
        if any(_is_folder(child) and _is_language(child.name) for child in children):
            described = any(description_owner(child.name) is not None for child in children)
            for child in children:
                if not _is_description(child):
                    yield from _places_of_language(child, path, described=described)
            return
    yield _Place(path, path)


def _places_of_language(folder: Path, entry: Path, *, described: bool) -> Iterator[_Place]:
    tasks = [task for task in _entries(folder) if not _is_description(task)] if _is_folder(folder) else []
    for task in tasks:
        systems = [path for path in _entries(task) if not _is_description(path)] if _is_folder(task) else []
        paths = [path for path in (*_entries(folder), *_entries(task)) if path.is_file()] if systems else []
        owners = frozenset(owner.lower() for path in paths if (owner := description_owner(path.name)))
        for path in systems:
            yield _Place(path, entry, folder.name, _package_name(task), described, owners)
        if not systems:
            yield _Place(task, entry, folder.name)
    if not tasks:
        yield _Place(folder, entry, folder.name)


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _entries(folder: Path) -> list[Path]:
    """Return the content of a folder without hidden files; nothing if it cannot be listed: its package is refused."""
    try:
        return sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    except OSError:
        return []


def _submissions(place: _Place, members: _Contents, layout: Layout) -> Iterator[Submission]:
    package, name = Package(place.path), _package_name(place.path)
    if place.language and not place.task:
        name = place.path.relative_to(place.entry.parent).as_posix()
        problem = LAYOUT.at(f"{quoted(shown(name))} is not in language/task/system/", file=package.name)
        name = _package_name(place.entry)
        yield Submission(package, Track(), name, name, problems=(problem,))
        return
    if place.language:
        submission = _ace(package, Track(place.language, place.task), name, members, "")
        is_owner = submission.site.lower() in place.owners
        yield submission._replace(described=submission.described or place.described or is_owner)
        return
    if not place.path.is_dir() and not place.path.name.lower().endswith(SUFFIXES):
        name = name.partition(".")[0] or name
    depth = None if layout == "plain" or isinstance(members, Finding) else _ace_depth([*members])
    if isinstance(members, Finding):
        yield Submission(package, Track(), name, name, problems=(members,))
    elif depth is not None:
        yield from _ace_archive(package, members, depth)
    elif layout == "plain" and _is_in_plan(place.path.name, members):
        problem = LAYOUT.at("this is in the layout of the ACE 2005 plan, the campaign is not", file=package.name)
        yield Submission(package, Track(), name, name, problems=(problem,))
    else:  # a name of the plan's form says whose it is, and whether it is contrastive
        named = system_name(name) or SystemName(name, "primary")
        yield _with_files(Submission(package, Track(), name, named.numbered, named.condition), members)


def _with_files(submission: Submission, members: Mapping[str, str]) -> Submission:
    """Return the submission with its files. A description among them is not part of the output."""
    output = {name: digest for name, digest in members.items() if description_owner(name) is None}
    problems = () if output else (NO_FILES.at("it contains no files", file=submission.package.name),)
    return submission._replace(members=output, described=len(output) < len(members), problems=problems)


def _ace(package: Package, track: Track, name: str, members: _Contents, prefix: str) -> Submission:
    """Return a system in the plan's layout, refused if the plan does not have its language, its task or its name."""
    track = Track(track.language.lower(), track.task.lower())
    named = system_name(name) or SystemName(name, "primary")
    is_known = track.language in TASKS and track.task in TASKS["english"]
    known = track if is_known else Track()
    submission = Submission(package, known, name, named.site, named.condition, prefix=prefix)
    if isinstance(members, Finding):
        return submission._replace(problems=(members,))
    submission = _with_files(submission, members)
    problems = _ace_problems(track, name, prefix or package.name)
    return submission._replace(problems=(*problems, *submission.problems))


def _ace_problems(track: Track, name: str, place: str) -> Sequence[Finding]:
    if track.language not in TASKS:
        message = f"ACE 2005 has no language {quoted(track.language)}. {nearest(track.language, TASKS)}"
        return [LANGUAGE.at(message, file=place)]
    if track.task not in TASKS["english"]:
        known = nearest(track.task, sorted(TASKS[track.language]))
        return [TASK.at(f"ACE 2005 has no task {quoted(track.task)}. {known}", file=place)]
    if track.task not in TASKS[track.language]:
        has = ", ".join(sorted(TASKS[track.language]))
        language = track.language.capitalize()
        return [TASK.at(f"ACE 2005 has no {track.task.upper()} in {language}; it has {has}", file=place)]
    if system_name(name) is None:
        return [SYSTEM.at(f"{quoted(name)} does not say whether the system is primary or contrastive", file=place)]
    return []


def _ace_depth(names: Sequence[str]) -> int | None:
    """Count the folders around those of languages in an archive, none or one; None if it has no languages."""
    paths = [name.split("/") for name in names if description_owner(name) is None]
    for depth in (0, 1):
        if any(len(parts) > depth + 1 and _is_language(parts[depth]) for parts in paths):
            return depth
    return None


def _is_in_plan(entry: str, members: Iterable[str]) -> bool:
    """Return whether all files are in folders of a language, a task and a system, wherever these are."""
    paths = [f"{entry}/{name}".split("/") for name in members if description_owner(name) is None]
    return bool(paths) and any(
        all(
            len(parts) > depth + 3
            and _is_language(parts[depth])
            and parts[depth + 1].lower() in TASKS["english"]
            and system_name(parts[depth + 2]) is not None
            for parts in paths
        )
        for depth in range(3)
    )


def _ace_archive(package: Package, members: Mapping[str, str], depth: int) -> Iterator[Submission]:
    """Yield the systems of an archive in the plan's layout; `depth` folders are around those of languages."""
    systems: dict[tuple[str, ...], dict[str, str]] = {}
    described = False
    for name, digest in members.items():
        parts = tuple(name.split("/"))
        if len(parts) <= depth + 3 and description_owner(name) is not None:
            described = True
        else:
            systems.setdefault((*parts, "", "", "")[: depth + 3], {})[name] = digest
    for parts, files in systems.items():
        language, task, system = parts[depth:]
        if system:
            submission = _ace(package, Track(language, task), system, files, "/".join(parts) + "/")
        else:  # a file in a folder of a language or a task
            problem = LAYOUT.at(f"{quoted(next(iter(files)))} is not in language/task/system/", file=package.name)
            name = _package_name(package.path)
            submission = Submission(package, Track(), name, name, problems=(problem,))
        yield submission._replace(described=submission.described or described)


def _checked(found: Sequence[Submission], is_ace: bool) -> Iterator[Submission]:
    """Add the problems that only all submissions together show; `is_ace`: the layout is the plan's.

    A submission that is refused for a reason of its own does not count, nor does one in the name of another site. A
    refused submission that shares its name gets another one.
    """
    found = [_in_layout(submission, is_ace) for submission in found]
    sites = {submission.site.lower() for submission in found if submission.is_own and not submission.problems}
    found = [_of_site(submission, sites) for submission in found]
    sound = [submission for submission in found if not submission.problems]
    names, systems = (Counter(submission.key for submission in some) for some in (found, sound))
    primaries = Counter(_competitor(submission) for submission in sound if submission.condition == "primary")
    taken = set(names)
    for submission in sorted(found, key=lambda submission: submission.package.name):
        key, system, place = submission.key, submission.system, submission.package.name
        problems = submission.problems
        if not problems and systems[key] > 1:
            same = ", ".join(sorted(shown(Path(other.package.path.name)) for other in sound if other.key == key))
            problems = (TWICE.at(f"there are {systems[key]} submissions called {system}: {same}", file=place),)
        elif not problems and is_ace and submission.condition == "primary" and primaries[_competitor(submission)] > 1:
            problems = (PRIMARIES.at(f"{submission.site} has more than one primary system here", file=place),)
        submission = submission._replace(problems=problems)
        if problems and names[key] > 1:
            numbered = (submission._replace(system=f"{system} ({number})") for number in count(1))
            submission = next(other for other in numbered if other.key not in taken)
            taken.add(submission.key)
        yield submission


def _in_layout(submission: Submission, is_ace: bool) -> Submission:
    """Return the submission, refused if it is in the other layout."""
    if submission.problems or is_ace == bool(submission.track.language):
        return submission
    words = ("not in", "the campaign is") if is_ace else ("in", "the campaign is not")
    message = f"this is {words[0]} the layout of the ACE 2005 plan, {words[1]}"
    return submission._replace(problems=(LAYOUT.at(message, file=submission.package.name),))


def _of_site(submission: Submission, sites: Collection[str]) -> Submission:
    """Return the submission, refused if its site is one of these, which have archives or folders of their own."""
    if submission.problems or submission.is_own or submission.site.lower() not in sites:
        return submission
    message = f"this is submitted for {submission.site}, which also has submissions of its own"
    return submission._replace(problems=(SITE.at(message, file=submission.package.name),))


def _competitor(submission: Submission) -> tuple[Track, str]:
    return submission.track, submission.site.lower()
