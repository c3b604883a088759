"""ACE: what the value of an element is made of, formula by formula as in Appendix A of the ACE 2005 evaluation plan.

A document goes through these modules from top to bottom:

    elements         entities, values, times, relations and events of a document
    promotion        mentions promoted to elements: EMD, RMD, VMD
    mentions         which mentions correspond, and what each is worth (MMV)
    tokens           what elements are worth in one document, alone and in pairs
    detection        values and mapping of tokens: EDR, VAL, TERN, EMD
    recognition      the same for elements with arguments: RDR, VDR, RMD, VMD
    explanation      why a mapped element lost value, for `--details`

They call the formulas and read the records of these:

    parameters       Tables 12 to 20, and the options that the plan leaves to the user
    records          what the formulas read: elements, mentions, arguments, and pairs of them
    plan             the formulas of Appendix A, in its order
    nist             the same with the departures of NIST's scorer, one override each

Mappings, and documents with very many equal elements:

    mapping          the one-to-one mapping that is worth most, and what NIST's scorer takes for it
    element_mapping  the same for elements
    scaled           the same for large tables
    groups           groups of equal elements or mentions
    token_groups     the tokens of a crowded document in groups

A protocol's file names its reading, `plan` or `nist`.
"""
