"""Rules that more than one format applies."""

from karat.errors import Rule

DOCUMENT_TWICE = Rule("document-twice", "fatal", "Give each document once, under its own id.")
TWICE = Rule("mention-twice", "fatal", "Give each mention (and cluster) of a document its own id.")
DANGLING = Rule(
    "argument-unknown", "fault", "Refer to a mention of the same document; unresolved references are ignored."
)
SINGLETON = Rule("cluster-of-one", "note", "Nothing to do: a mention without a cluster is a cluster of its own anyway.")
MERGED = Rule("segments-merged", "note", "Nothing to do; the segments are read as their union.")
REPEATED = Rule("member-twice", "fault", "Name each mention once; it counts once.")
TRIMMED = Rule("id-trimmed", "note", "Nothing to do; write ids without blanks to avoid this note.")
