"""Statistics: how sure a score is, and whether two systems really differ.

Everything here works on rows of counts, one per unit of evaluation (`UnitRows`). A resample is a sum of rows, and its
score is what the protocol makes of any sum of rows, so no measure knows about intervals or tests.

    resampling   which rows a resample contains: the bootstrap, and swaps between two systems
    confidence   from resampled scores, or from scores without one unit (jackknife), to the intervals of a result
    paired       p-values of differences: approximate randomisation, paired bootstrap, jackknife; correction (Holm)
"""
