"""Surveys of several corpora at the same time, each in a process of its own."""

import pickle
from collections.abc import Sequence

from karat.corpus.divided import Sent, attempted
from karat.corpus.files import FileCorpus
from karat.corpus.interface import Corpus, Executor


def survey_together(corpora: Sequence[Corpus], executor: Executor) -> None:
    """Survey corpora side by side, if there are other processes. One that fails is surveyed when it is asked for."""
    files = [one for one in corpora if isinstance(one, FileCorpus) and one.can_be_surveyed_elsewhere]
    if len(files) < 2 or executor.width(sum(one.size() for one in files)) == 1:
        return
    for corpus, sent in zip(files, executor.map(_surveyed, None, files), strict=True):
        if not isinstance(sent, str):
            corpus.surveyed_as(*pickle.loads(sent))


def _surveyed(shared: None, corpus: FileCorpus) -> Sent:
    del shared
    return attempted(corpus.surveyed)
