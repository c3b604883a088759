"""Names of relations that the user calls coreference, and that no relation has."""

from collections.abc import Iterator

from karat.corpus.files import FileCorpus
from karat.corpus.interface import Corpus
from karat.errors import Finding, Rule, nearest, quoted

ABSENT = Rule(
    "coreference-absent", "fault", "Name relations as the files do (case does not matter), or omit the option."
)


def absent_names(*corpora: Corpus) -> Iterator[Finding]:
    """Each name of `--coreference` that no relation of these corpora has: one of them is enough."""
    files = [corpus for corpus in corpora if isinstance(corpus, FileCorpus)]
    names = dict.fromkeys(name for corpus in files for name in corpus.options.coreference)
    relations = sorted({name for corpus in corpora for name in corpus.facts().relations}) if names else []
    known = {name.lower() for name in relations}
    for name in names:
        if name.lower() not in known:
            message = f"--coreference: no relation is called {quoted(name)}. {nearest(name, relations)}"
            yield ABSENT.at(message, file=corpora[0].name)
