"""Statistics: how sure a score is, and whether two systems really differ.

Everything here works on rows of counts, one per unit of evaluation (`UnitRows`). A resample is a sum of rows, and its
score is what the protocol makes of any sum of rows, so no measure knows about intervals or tests.

    resampling   which rows a resample contains: the bootstrap, and swaps between two systems
    intervals    from resampled scores, or from scores without one unit (jackknife), to an interval
    confidence   the intervals of all scores of a result
    paired       the p-value of a difference: approximate randomisation, paired bootstrap, jackknife
    correction   p-values of many comparisons (Holm)
"""
