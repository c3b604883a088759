"""ACE: what the value of an element is made of, formula by formula as in Appendix A of the ACE 2005 evaluation plan.

    parameters   Tables 12 to 20, and the readings on which the plan's text and NIST's program differ
    elements     entities, values, times, relations and events of a document; promotion of mentions to elements
    mentions     mutual_overlap, fractional_consecutive_string, MMV, and the best mapping of mentions
    attributes   Element_Value
    values       Mentions_Value, Value(token), and the mapping of tokens: EDR, VAL, TERN, EMD
    arguments    MAV, Arguments_Value, the conditions of Tables 15, 16, 18 and 19: RDR, VDR, RMD, VMD
    mapping      the one-to-one mapping that is worth most, and what NIST's program takes for it

The plan's words are kept: a token is what an element has in one document, `own` is its value against itself, and an
alarm is its (negative) value where it is mapped to nothing.
"""
