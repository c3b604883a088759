"""Suspicious annotations: coreference links that look missing or wrong, and documents that look partly annotated.

Upadhyay et al. (2016), section 7.3, find links with an anchored SVM (Goldberg and Elhadad 2007): a linear classifier
learns which pairs of event mentions corefer, and each pair has an additional feature of its own, its anchor. What the
classifier cannot explain by what it has learned from the other pairs, it memorises in the anchor. A pair whose anchor
has a large weight is hard to explain, or annotated wrongly.
"""
