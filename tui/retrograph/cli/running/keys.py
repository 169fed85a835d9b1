"""The terminal's keys: one at a time, and none while something is painted."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_OFTEN = 0.05
"""Seconds between two looks at whether it is still worth waiting."""


def read_key(stopping: Callable[[], bool]) -> str:
    """The next key, as a character; `q` where there is none any more, and as soon as `stopping`
    says so: Ctrl-C is a signal, and no key."""
    import select
    import termios
    import tty

    fd = sys.stdin.fileno()
    before = termios.tcgetattr(fd)
    try:
        # What was typed while nobody asked answers nothing.
        tty.setcbreak(fd, termios.TCSAFLUSH)
        while not stopping():
            if select.select([fd], [], [], _OFTEN)[0]:
                data = os.read(fd, 16)
                return data[:1].decode("ascii", "replace") if data else "q"
    finally:
        termios.tcsetattr(fd, termios.TCSADRAIN, before)
    return "q"


@contextmanager
def unechoed() -> Iterator[None]:
    """What is typed is not seen, since it would tear what is painted; and it is forgotten at the
    end, since it answers nothing that is asked later. Ctrl-C stays a signal."""
    import termios

    try:
        fd = sys.stdin.fileno()
        before = termios.tcgetattr(fd)
        is_ours = os.tcgetpgrp(fd) == os.getpgrp()  # one in the background would be stopped
    except (AttributeError, OSError, ValueError, termios.error):
        is_ours = False
    if not is_ours:
        yield
        return
    changed = [*before]
    changed[3] &= ~termios.ECHO
    termios.tcsetattr(fd, termios.TCSADRAIN, changed)
    try:
        yield
    finally:
        termios.tcsetattr(fd, termios.TCSAFLUSH, before)
