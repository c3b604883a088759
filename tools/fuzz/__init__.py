"""Fuzzing: valid files with a few edits, given to every command, must be scored or refused with a message.

    seeds        small valid corpora of every registered format
    mutations    edits of bytes, lines, tokens, numbers, quotes, nesting and encodings
    cases        from a seed number and a run number to files and command lines
    properties   what must hold after each command
    worker       runs cases in a process with limits for time and memory
    table        the summary of a run in Markdown
    __main__     starts workers, goes on where a stopped run ended, prints what was found

A run depends only on its two numbers, so any of them can be repeated: `python -m fuzz --show 1234`.
"""
