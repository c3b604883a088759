"""Files of well-known kinds that karat does not read, so that a user learns what they are and how to convert them."""

import re
from typing import NamedTuple

from karat.corpus.paths import File
from karat.errors import KaratError, Rule

UNSUPPORTED = Rule(
    "format-unsupported",
    "fatal",
    "Convert it to JSON Lines, one document per line, or to another format that `karat formats` lists.",
)
HEAD = 1 << 16


class _Kind(NamedTuple):
    name: str
    advice: str
    begins: re.Pattern[bytes] | None = None
    """What a file of this kind begins with: looked for only there, which is much faster than a search."""
    declares: re.Pattern[bytes] | None = None
    """The DOCTYPE declaration of a file of this kind."""
    contains: tuple[bytes, ...] = ()
    """What can only be in a file of this kind. Plain texts, since a search for a pattern takes ten times as long."""

    def is_in(self, head: bytes) -> bool:
        """Whether a file with these first bytes is of this kind."""
        if self.begins is not None and self.begins.match(head):
            return True
        if self.declares is not None and (start := head.find(b"<!DOCTYPE")) >= 0 and self.declares.match(head, start):
            return True
        return any(text in head for text in self.contains)


_KINDS = (
    _Kind(
        "APF of ACE 2004 or earlier",
        "karat reads APF 5.1.1 (ACE 2005), which has other types",
        declares=re.compile(rb"""<!DOCTYPE\s+source_file\s+SYSTEM\s+["'][^"']*(?:apf\.v[1-4]\.|ace-rdc\.|ace-pilot)"""),
    ),
    _Kind(
        "HiEve XML",
        "in JSON Lines, events are `mentions`, Coref is their `cluster`, and SuperSub is a link of kind subevent",
        begins=re.compile(rb"\s*(?:<\?xml[^>]*>\s*)?<ArticleInfo\b"),
        contains=(b"<EventInfo>", b"<RelationInfo>"),
    ),
    _Kind(
        "a JSON list of mentions as in WEC",
        "in JSON Lines, doc_id is `id`, tokens_number is `span`, and coref_chain is `cluster`",
        begins=re.compile(rb'\s*\[\s*\{[^{}]*"coref_chain"\s*:'),
    ),
    _Kind(
        "a JSON list of mentions as in Cattan et al. (2021)",
        "in JSON Lines, doc_id is `id`, tokens_ids is `span`, and cluster_id is `cluster` (ECB+: give the XML files)",
        begins=re.compile(rb'\s*\[\s*\{(?=[^{}]*"tokens_ids"\s*:)[^{}]*"cluster_id"\s*:'),
    ),
)


def unsupported(file: File) -> KaratError | None:
    """The error for a file of a known kind that karat does not read; None for any other file."""
    head = file.head(HEAD)
    for kind in _KINDS:
        if kind.is_in(head):
            return UNSUPPORTED.error(f"this is {kind.name}, which karat does not read; {kind.advice}", file=file.name)
    return None
