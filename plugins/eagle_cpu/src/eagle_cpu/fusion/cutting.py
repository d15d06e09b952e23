"""Where to cut a row of kernels into pieces that are compiled as one each."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

__all__ = ["cut"]

LONGEST_PERIOD = 32


def cut(kinds: Sequence[Hashable], sizes: Sequence[int], limit: int) -> list[int]:
    """Return how many kernels are in each piece.

    A piece stays within `limit`, unless it is a single kernel. Where kernels repeat, pieces hold whole periods and are
    equally long, so that one compiled piece serves for all of them; what is cut takes time linear in its length.

    Parameters
    ----------
    kinds : sequence of hashable
        What each kernel is.
    sizes : sequence of int
        What each adds to a piece.
    limit : int
    """
    if sum(sizes) <= limit:
        return [len(kinds)] if kinds else []
    pieces: list[int] = []
    begin = size = at = 0
    while at < len(kinds):
        period, times = _repetition(kinds, sizes, at, limit)
        once = sum(sizes[at : at + period])
        if times > 1 and once * times > limit:
            pieces += [at - begin] if at > begin else []
            pieces += _shares(period, times, limit // once)
            begin = at = at + period * times
            size = 0
            continue
        if size + sizes[at] > limit and at > begin:
            pieces.append(at - begin)
            begin, size = at, 0
        size += sizes[at]
        at += 1
    return pieces + ([at - begin] if at > begin else [])


def _shares(period: int, times: int, most: int) -> list[int]:
    """Return pieces of at most `most` periods each, as equal as can be, the shorter one last."""
    count = -(-times // most)
    each = -(-times // count)
    whole, rest = divmod(times, each)
    return [each * period] * whole + ([rest * period] if rest else [])


def _repetition(kinds: Sequence[Hashable], sizes: Sequence[int], at: int, limit: int) -> tuple[int, int]:
    """Return the period from `at` on that covers most, the shortest of those, and how often it is repeated.

    Only periods within `limit` count: what is looked at further on is then cut off at once, or is short.
    """
    best, most, size = (1, 1), 0, 0
    for period in range(1, min(LONGEST_PERIOD, (len(kinds) - at) // 2) + 1):
        size += sizes[at + period - 1]
        if size > limit:
            break
        if kinds[at] != kinds[at + period]:
            continue
        end = at + period
        while end < len(kinds) and kinds[end] == kinds[end - period]:
            end += 1
        times = (end - at) // period
        if times > 1 and times * period > most:
            best, most = (period, times), times * period
    return best
