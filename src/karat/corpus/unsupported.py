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
    pattern: re.Pattern[bytes]
    name: str
    advice: str


_KINDS = (
    _Kind(
        re.compile(rb"""<!DOCTYPE\s+source_file\s+SYSTEM\s+["'][^"']*(?:apf\.v[1-4]\.|ace-rdc\.|ace-pilot)"""),
        "APF of ACE 2004 or earlier",
        "karat reads APF 5.1.1 (ACE 2005), which has other types",
    ),
    _Kind(
        re.compile(rb"\A\s*(?:<\?xml[^>]*>\s*)?<ArticleInfo\b|<(?:EventInfo|RelationInfo)>"),
        "HiEve XML",
        "in JSON Lines, events are `mentions`, Coref is their `cluster`, and SuperSub is a link of kind subevent",
    ),
    _Kind(
        re.compile(rb'\A\s*\[\s*\{[^{}]*"coref_chain"\s*:'),
        "a JSON list of mentions as in WEC",
        "in JSON Lines, doc_id is `id`, tokens_number is `span`, and coref_chain is `cluster`",
    ),
    _Kind(
        re.compile(rb'\A\s*\[\s*\{(?=[^{}]*"tokens_ids"\s*:)[^{}]*"cluster_id"\s*:'),
        "a JSON list of mentions as in Cattan et al. (2021)",
        "in JSON Lines, doc_id is `id`, tokens_ids is `span`, and cluster_id is `cluster` (ECB+: give the XML files)",
    ),
)


def unsupported(file: File) -> KaratError | None:
    """The error for a file of a known kind that karat does not read; None for any other file."""
    head = file.head(HEAD)
    for kind in _KINDS:
        if kind.pattern.search(head):
            return UNSUPPORTED.error(f"this is {kind.name}, which karat does not read; {kind.advice}", file=file.name)
    return None
