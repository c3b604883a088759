"""Lines of records, as `Document.places` has them."""

from collections.abc import Iterator, Sequence
from itertools import count, islice
from typing import overload


class LinesExcept(Sequence[int]):
    """Line numbers of records that have a line each; some lines have none. Only these are kept."""

    def __init__(self, first: int, others: Sequence[int], count: int) -> None:
        """`first` is the first line, `others` are those without a record, in order."""
        self._first, self._others, self._count = first, others, count

    @overload
    def __getitem__(self, index: int) -> int: ...
    @overload
    def __getitem__(self, index: slice) -> list[int]: ...
    def __getitem__(self, index: int | slice) -> int | list[int]:
        if isinstance(index, slice):
            return [self[single] for single in range(*index.indices(self._count))]
        if not 0 <= index < self._count:
            raise IndexError(index)
        line = self._first + index
        for other in self._others:
            if other > line:
                break
            line += 1
        return line

    def __iter__(self) -> Iterator[int]:
        others = {*self._others}
        return islice((line for line in count(self._first) if line not in others), self._count)

    def __len__(self) -> int:
        return self._count
