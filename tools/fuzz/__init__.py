"""Fuzzing: valid files with some damage, given to every command, must be scored or refused with a clear message.

    corpora      small valid corpora of every format
    damage       edits of bytes, tokens, lines, numbers, elements, nesting and encodings
    cases        from a seed and a run number to files and command lines
    checks       runs one command in this process and checks what must hold after it
    worker       runs the commands of a case
    __main__     runs cases in worker processes and prints the problems

A case depends only on its seed and number: `python -m fuzz --show 1234` writes its files and prints its commands.
"""
