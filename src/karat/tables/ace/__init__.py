"""ACE: what the value of an element is made of, formula by formula as in Appendix A of the ACE 2005 evaluation plan.

    parameters   Tables 12 to 20, and the options that the plan leaves to the user
    records      what the formulas read: elements, mentions, arguments, and pairs of them
    plan         the formulas of Appendix A, in its order
    nist         the same with the departures of NIST's scorer, one override each
    mapping      the one-to-one mapping that is worth most, and what NIST's scorer takes for it
    scaled       the same for large tables
    twins        elements and mentions that only their names tell apart
    elements     entities, values, times, relations and events of a document
    promotion    mentions promoted to elements: EMD, RMD, VMD
    mentions     which mentions correspond
    detection    values of pairs and mapping of tokens: EDR, VAL, TERN, EMD
    recognition  the same for what has arguments: RDR, VDR, RMD, VMD
    explanation  why a mapped element lost value, for `--details`

A protocol's file names its reading, `plan` or `nist`.
"""
