"""Mutation testing: small changes of the code that computes scores, each of which some test should notice.

    edits        every mutant of a module: one small change of its source
    reach        which tests reach which line, and how long each takes
    worker       a plug-in of pytest: records what tests reach, or runs the tests of one mutant after another
    execution    the tests of one mutant, in a process with limits of CPU time and memory
    equivalent   survivors that no test can kill, with the reason
    table        the summary of a run in Markdown
    __main__     draws the sample, goes on where a stopped run ended, prints what survived

The sample depends on a seed and on the text of each mutant, not on its line. So a change of one module leaves the
sample of the others as it is, and their results.
"""
