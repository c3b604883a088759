"""Campaigns: a shared task, from a folder of submissions to rankings and a web site.

names, archives, packages   what participants hand in, read safely
layouts, intake             which system, track and site each file belongs to
golds, scoring, reporting   one submission checked, scored and explained, in whatever process
stored, store, running      what is kept, so that nothing is computed twice
ranking, campaign           who is ranked with whom
naming, nameless            pseudonyms for a blind phase
listing, pages, site        the results as text, JSON, CSV and HTML
publication, writing        what one site may publish; all files together
"""
