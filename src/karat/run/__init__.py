"""The engine runs protocols over pairs of documents. It knows no protocol and no measure by name.

    read -> check -> filter, collapse, align -> tables -> rows -> units -> counts -> scores

scoring      the whole run, and its result: start here
pipeline     the map from documents to rows, in this process or in others
pairs        the two sides of a document, read, checked, filtered and collapsed
plan         the options of a run, the measures of a protocol, and how a pair becomes a row
rows         what a run keeps of a document, and of a unit
units        rows of documents become rows of units, and these become scores

On request: breakdown, classes (averages over classes), details, findings and errors (the analysis of errors). Remarks
are notes on a result. Executors, processes and cluster divide the work. Validation and submissions check files.
"""
