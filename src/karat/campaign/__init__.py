"""Campaigns: a shared task, from a folder of submissions to rankings and a web site.

children                  child processes with limits, in which files of strangers are read
packages, submissions     what participants hand in, and the system, track and site of each file
scoring, store            each submission checked, scored and explained once
ranking, campaign         systems ranked with each other
pseudonyms                names for a blind phase
listing, site, outputs    the results as text, JSON, CSV and HTML
template                  a campaign to start from
"""
