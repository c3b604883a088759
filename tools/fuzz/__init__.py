"""Fuzzing: valid files with a few edits, given to every command, must be scored or refused with a message.

    seeds        small valid corpora of every registered format
    mutations    edits of bytes, lines, tokens, numbers, quotes, nesting and encodings
    cases        from a seed number and a run number to files and command lines
    execution    one command in this process, with a limit of time
    properties   what must hold after each command
    workspace    the folder in which the commands of a case run
    checking     one command in that folder, counted and checked
    repeats      the same again: in another order, in another process, on its output
    twin         a second warm process, with another hash seed
    worker       a process that runs cases, with a limit of memory
    table        the summary of a run in Markdown
    __main__     starts workers, goes on where a stopped run ended, prints what was found

A run depends only on its two numbers, so any of them can be repeated: `python -m fuzz --show 1234`.
"""
