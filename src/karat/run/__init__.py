"""The engine runs protocols over pairs of documents. It knows no protocol and no measure by name.

    read -> check -> filter, collapse, align -> tables -> rows -> units -> counts -> scores

plan         the options of a run, the measures of a protocol, and how a pair becomes a row
pairs        the two sides of a document, read, checked, filtered and collapsed
rows         what a run keeps of a document, and of a unit
pipeline     the map from documents to rows, in this process or in others
units        rows of documents become rows of units, and these become scores
scoring      the whole run, and its result
"""
