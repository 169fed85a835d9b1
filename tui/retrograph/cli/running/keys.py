"""One key at a time from the terminal."""

from __future__ import annotations

import os
import sys


def read_key() -> str:
    """The next key, as a character; `q` where there is none any more. Ctrl-C raises
    `KeyboardInterrupt`, wherever it is handled otherwise."""
    import signal
    import termios
    import tty

    fd = sys.stdin.fileno()
    before = termios.tcgetattr(fd)
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        # What was typed while nobody asked answers nothing.
        tty.setcbreak(fd, termios.TCSAFLUSH)
        data = os.read(fd, 16)
    finally:
        termios.tcsetattr(fd, termios.TCSADRAIN, before)
        signal.signal(signal.SIGINT, handler)
    return data[:1].decode("ascii", "replace") if data else "q"
