"""When Python looks for garbage, so that no key waits for it.

By its defaults the collector walks over everything that the app holds every minute or so, which
takes as long as several frames. What is there once the app and a thread are loaded stays there:
it is taken out of the collector's sight, and what is left to look at is little.
"""

from __future__ import annotations

import gc

_YOUNG = 5_000
"""Objects that are made between two looks at the youngest: one takes 1 to 2 ms."""


def look_seldom() -> None:
    """Look at few objects at a time, and rarely at those that have lasted."""
    gc.set_threshold(_YOUNG, 20, 20)


def leave_alone() -> None:
    """What is held now is there to stay."""
    gc.freeze()
