"""Papers recomputed: one module per paper, with its published numbers and claims beside what karat finds.

A paper is a module (or any object that another package offers under the entry-point group `karat.studies.papers`) with

    TITLE                        authors, year and title
    DATA                         the `Data` that the user names; None: the data come with karat
    FIGURES                      the names of its figures
    reproduce(data, progress, quick=False)
                                 the `Reproduction`; `data` are the paths that the user gave;
                                 `progress`, if not None, is called with the steps done and the number of steps; `quick`
                                 asks to leave out what takes minutes
"""
