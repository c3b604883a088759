"""A selection of topics, as in `--topics`: `26-45`, `1,3,7-9`, `sports,politics`, `cybulska-2015:test`."""

import re
from collections.abc import Iterable, Sequence

from karat.problems import KaratError, Rule, UsageError, nearest, quoted
from karat.regions import union

ABSENT = Rule("topics-absent", "fatal", "Name topics that the corpus has, such as --topics 26-45 or --topics 1,3,7-9.")
HINT = "Write numbers, ranges and names, separated by commas: 26-45, or 1,3,7-9."
LISTED = 30

SPLITS = {
    "cybulska-2015": {
        "train": "1,3,4,6-11,13,14,16,19,20,22,24-33",
        "dev": "2,5,12,18,21,23,34,35",
        "test": "36-45",
    },
    "yang-2015": {"train": "1-22", "dev": "23-25", "test": "26-45"},
}
"""Splits of ECB+ by their names in papers."""

_NUMBER = "[0-9]{1,18}"
_RANGE = re.compile(rf"({_NUMBER})\s*-\s*({_NUMBER})")
_NEARLY = re.compile(rf"({_NUMBER})\s*(?:-{{2,}}|[\u2010-\u2014]|\.{{2,}}|:|to)\s*({_NUMBER})")


class Topics:
    """Names of topics, and ranges of those that are numbers."""

    def __init__(self, names: Iterable[str], ranges: Sequence[tuple[int, int]] = ()) -> None:
        self._names = tuple(dict.fromkeys(names))
        self._ranges = tuple(ranges)

    @classmethod
    def parse(cls, spec: str) -> "Topics":
        """The topics that a SPEC of the command line names."""
        names: list[str] = []
        ranges: list[tuple[int, int]] = []
        for item in map(str.strip, spec.split(",")):
            split, colon, part = item.rpartition(":")
            if item in SPLITS or (colon and (split in SPLITS or part in ("train", "dev", "test"))):
                named = cls.parse(_topics_of(spec, split or item, part if colon else ""))
                names += named._names
                ranges += named._ranges
            elif match := _RANGE.fullmatch(item):
                first, last = map(int, match.groups())
                if first > last:
                    raise _bad(spec, f"{item} runs backwards", f"Did you mean {last}-{first}?")
                ranges.append((first, last))
            elif match := _NEARLY.fullmatch(item):
                raise _bad(spec, f"{quoted(item)} is not a range", f"Did you mean {'-'.join(match.groups())}?")
            elif not item or re.fullmatch(r"[0-9]*\s*-+\s*[0-9]*", item):
                raise _bad(spec, f"{quoted(item)} is not a topic", HINT)
            elif _is_number(item):
                ranges.append((int(item), int(item)))
            else:
                names.append(item)
        return cls(names, ranges)

    def __contains__(self, topic: object) -> bool:
        """Return whether this topic is selected; None, for a document without a topic, never is."""
        if not isinstance(topic, str):
            return False
        if topic in self._names:
            return True
        return _is_number(topic) and any(first <= int(topic) <= last for first, last in self._ranges)

    def __str__(self) -> str:
        """In canonical form: ranges joined and in order, then names."""
        joined = union([(first, last + 1) for first, last in self._ranges], touching=True)
        ranges = [str(first) if first + 1 == end else f"{first}-{end - 1}" for first, end in joined]
        return ",".join([*ranges, *sorted(self._names)])

    def absent(self, there: Iterable[str | None], *, file: str) -> KaratError:
        """The error for a corpus that only has other topics."""
        known = {topic for topic in there if topic is not None}
        numbers = Topics((), [(int(topic), int(topic)) for topic in known if _is_number(topic)])
        names = sorted(topic for topic in known if not _is_number(topic))
        listed = [*filter(None, [str(numbers).replace(",", ", ")]), *names[:LISTED]]
        if len(names) > LISTED:
            listed.append(f"and {len(names) - LISTED:,} more")
        has = f"the corpus has {', '.join(listed)}" if listed else "no document of the corpus has a topic"
        return ABSENT.error(f"no document has the topic {self}; {has}", file=file)


def _topics_of(spec: str, split: str, part: str) -> str:
    if split not in SPLITS:
        raise _bad(spec, f"there is no split {quoted(split)}", nearest(split, SPLITS))
    if part not in SPLITS[split]:
        message = f"{split} has no part {quoted(part)}" if part else f"{split} is a split"
        raise _bad(spec, message, f"Write {', '.join(f'{split}:{known}' for known in SPLITS[split])}.")
    return SPLITS[split][part]


def _is_number(topic: str) -> bool:
    return re.fullmatch(_NUMBER, topic) is not None


def _bad(spec: str, message: str, hint: str) -> UsageError:
    return UsageError("bad-topics", f"--topics {quoted(spec)}: {message}", hint)
