"""Zeros: mentions whose head is an empty node, such as a dropped pronoun."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence, Set

from karat.model import Document, EmptyNode, Mention, Pair
from karat.plugin import Alike


def zeros(document: Document, mentions: Sequence[Mention]) -> Iterator[tuple[int, EmptyNode]]:
    """The numbers of the mentions whose head is an empty node of the document, each with that node."""
    nodes = {node.token: node for node in document.empty_nodes}
    for number, mention in enumerate(mentions) if nodes else ():
        head = mention.head or mention.span
        if len(head) == 1 and head[0][1] - head[0][0] == 1 and head[0][0] in nodes:
            yield number, nodes[head[0][0]]


def by_dependencies(pair: Pair, gold: Sequence[Mention], system: Sequence[Mention]) -> Alike:
    """10 · F1(D_G, D_S) + F1(P_G, P_S) for zeros of one sentence: their dependencies D, and the parents P in these.

    A dependency is a parent with its relation, in the enhanced dependencies of the head.
    """
    alike: Alike = []
    candidates: dict[int, list[tuple[int, EmptyNode]]] = {}
    for g, node in zeros(pair.gold, gold):
        candidates.setdefault(sentence(pair.gold, node), []).append((g, node))
    for s, node in zeros(pair.system, system) if candidates else ():
        for g, other in candidates.get(sentence(pair.system, node), ()):
            dependencies = f1(set(other.dependencies), set(node.dependencies))
            parents = f1({parent for parent, _ in other.dependencies}, {parent for parent, _ in node.dependencies})
            if parents:  # who shares a dependency shares its parent
                alike.append((-(10 * dependencies + parents), s, g))
    return alike


def sentence(document: Document, node: EmptyNode) -> int:
    """The number of the sentence of an empty node."""
    return bisect_right(document.sentences, node.token, key=lambda sentence: sentence.begin)


def f1(gold: Set[object], system: Set[object]) -> float:
    """2|G ∩ S| / (|G| + |S|); 0 for two empty sets."""
    size = len(gold) + len(system)
    return 2 * len(gold & system) / size if size else 0.0
