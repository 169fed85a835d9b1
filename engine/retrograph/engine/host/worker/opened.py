"""What the import of a graph opened and left open: databases and connections, by descriptor."""

from __future__ import annotations

import os
import socket
import stat

from .faults import place

_FDS = "/proc/self/fd"


def opening() -> dict[str, str]:
    """What is open now, by descriptor; nothing where the system does not tell."""
    found = {}
    try:
        for fd in os.listdir(_FDS):
            try:
                found[fd] = os.readlink(os.path.join(_FDS, fd))
            except OSError:
                continue
    except OSError:
        pass
    return found


def opened_since(before: dict[str, str], shown: str) -> list[str]:
    """One sentence for each database file or connection that was opened since."""
    notes = []
    for fd, what in sorted(opening().items(), key=lambda item: int(item[0])):
        if before.get(fd) == what:
            continue
        if what.startswith("socket:"):
            peer = _peer(int(fd))
            if peer:
                notes.append(f"Loading {shown} connected to {peer}.")
        elif _is_database(what):
            notes.append(f"Loading {shown} opened the database {place(what, None)}.")
    return list(dict.fromkeys(notes))


def _peer(fd: int) -> str:
    try:
        with socket.socket(fileno=os.dup(fd)) as copy:
            address = copy.getpeername()
    except OSError:
        return ""
    if isinstance(address, tuple) and len(address) >= 2:
        return f"{address[0]}:{address[1]}"
    return address if isinstance(address, str) else ""


def _is_database(path: str) -> bool:
    """By SQLite's magic; an empty file by its name."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return False
        with open(path, "rb") as file:
            head = file.read(16)
    except OSError:
        return False
    return head == b"SQLite format 3\0" or (
        not head and path.endswith((".db", ".sqlite", ".sqlite3"))
    )
