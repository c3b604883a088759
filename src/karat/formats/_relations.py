"""Relations between mentions as files give them: labels, ends, and what is wrong with them."""

from collections.abc import Collection, Mapping

from karat.model import Line, Link
from karat.problems import Report, Rule, nearest, quoted

LABEL = Rule("relation-label", "note", "Correct the label if it is misspelt; labels are compared as written.")
END = Rule(
    "relation-end-unknown", "fault", "Name a mention, event or time of the same document; the relation is ignored."
)


class RelationLinks:
    """Collects the relations of a document. Those that name nothing are reported and left out."""

    def __init__(self, document: str, ends: Mapping[str, str], file: str, report: Report) -> None:
        """`ends` are the ids of mentions or clusters by their names in the file."""
        self._document, self._ends, self._file, self._report = document, ends, file, report
        self.links: list[Link] = []
        self.lines: list[Line] = []

    def add(self, label: str, source: str, target: str, line: int) -> None:
        """Add a relation."""
        known = self._ends
        if source in known and target in known:
            self.links.append(Link(label, known[source], known[target]))
            self.lines.append(line)
            return
        end = target if source in known else source
        message = f"the {label} from {quoted(source)} to {quoted(target)} names {quoted(end)}, which is nothing in "
        self._report(END.at(f"{message}document {quoted(self._document)}", file=self._file, line=line, found=end))

    def check_label(self, label: str, known: Collection[str], line: int) -> None:
        """Report a label that no protocol of the format knows."""
        if label not in known:
            message = f"the relation {quoted(label)} is not one of the format. {nearest(label, known)}"
            self._report(LABEL.at(message, file=self._file, line=line, found=label))
