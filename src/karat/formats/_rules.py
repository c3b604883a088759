"""Rules that more than one format applies."""

from karat.errors import Rule

TWICE = Rule("mention-twice", "fatal", "Give each mention of a document its own id.")
DANGLING = Rule("argument-unknown", "fault", "Name a mention of the same document; what names nothing is left out.")
MERGED = Rule("segments-merged", "note", "Nothing to do; the segments are read as their union.")
