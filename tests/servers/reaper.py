"""Stops a server when nobody uses it any more, also where its users were killed:

    python -m servers.reaper USERS STATE DATA

Who uses the server holds a shared lock on USERS; this waits for it alone, in the background.
"""

from __future__ import annotations

import fcntl
import os
import sys
from pathlib import Path

from servers.postgres import stop


def main(users: Path, state: Path, data: Path) -> None:
    with users.open("w") as file:
        if os.fork():
            os._exit(0)
        os.setsid()
        fcntl.flock(file, fcntl.LOCK_EX)
        # Whoever comes now waits for the lock, and then finds that there is no server.
        state.unlink(missing_ok=True)
        stop(data)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
