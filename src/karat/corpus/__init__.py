"""Corpora: documents in files or in memory, their topics and fingerprint."""

from karat.corpus.chunks import chunks
from karat.corpus.coreference import absent_names
from karat.corpus.files import FileCorpus
from karat.corpus.fingerprint import Fingerprint
from karat.corpus.index import Index
from karat.corpus.interface import Corpus, Executor, Progress
from karat.corpus.memory import MemoryCorpus
from karat.corpus.opening import corpus_of, open_corpus
from karat.corpus.paths import File, MemorySpool, find
from karat.corpus.topics import Topics

__all__ = [
    "Corpus",
    "Executor",
    "File",
    "FileCorpus",
    "Fingerprint",
    "Index",
    "MemoryCorpus",
    "MemorySpool",
    "Progress",
    "Topics",
    "absent_names",
    "chunks",
    "corpus_of",
    "find",
    "open_corpus",
]
