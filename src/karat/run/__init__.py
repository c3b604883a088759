"""The engine runs protocols over pairs of documents. It knows no protocol and no measure by name.

    read -> check -> filter, collapse, align -> tables -> rows -> units -> counts -> scores

reading      the two sides of a document, read and checked
preparation  filters and the collapse
plan         what a protocol scores here, and how a pair becomes a row
rows         what a run keeps of a document, and of a unit
pipeline     the map from documents to rows, in this process or in others
units        rows of documents become rows of units
scores       from the counts of units to scores
scoring      the whole run, and its result
"""
