"""ACE: what the value of an element is made of, formula by formula as in Appendix A of the ACE 2005 evaluation plan.

A document goes through these modules from top to bottom:

    elements         entities, values, times, relations and events of a document; mentions promoted to elements
    mentions         which mentions correspond, what each is worth (MMV), and the tokens of a document
    detection        values and mapping of tokens: EDR, VAL, TERN, EMD
    recognition      the same for elements with arguments: RDR, VDR, RMD, VMD

They call the formulas and read the records of these:

    parameters       Tables 12 to 20, and the options that the plan leaves to the user
    records          what the formulas read: elements, mentions, arguments, and pairs of them
    plan             the formulas of Appendix A, in its order
    nist             the same with the departures of NIST's scorer, one override each
    mapping          the one-to-one mapping that is worth most, and what NIST's scorer takes for it

A protocol's file names its reading, `plan` or `nist`.
"""
