"""PgBouncer in transaction mode, from the system's package."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest

from servers.postgres import Database, free_port, new_folder

_CONFIG = """
[databases]
* = host={host} port={port} user={user}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {own}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = {pool}
{more}
"""


@contextmanager
def pgbouncer(database: Database, *, pool: int = 1, more: str = "") -> Iterator[str]:
    """A pooler before the server of `database`, by its URI. With one server connection, whatever
    a client leaves on it is met by the next."""
    program = shutil.which("pgbouncer") or shutil.which("pgbouncer", path="/usr/sbin")
    if program is None:
        pytest.skip("pgbouncer is not installed (apt install pgbouncer)")
    server, folder, own = database.server, new_folder(), free_port()
    config = folder / "pgbouncer.ini"
    config.write_text(
        _CONFIG.format(
            host=server.host, port=server.port, user=server.user, own=own, pool=pool, more=more
        )
    )
    who: dict[str, Any] = {}
    if os.getuid() == 0:
        nobody = pwd.getpwnam("nobody")
        who = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
    with (folder / "log").open("w") as log:
        process = subprocess.Popen([program, str(config)], stdout=log, stderr=log, cwd="/", **who)
    uri = f"postgresql://anybody@127.0.0.1:{own}/{database.name}"
    try:
        _wait(uri, process)
        yield uri
    finally:
        process.terminate()
        process.wait(10)
        shutil.rmtree(folder)


def _wait(uri: str, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 20
    while True:
        try:
            psycopg.connect(uri, connect_timeout=2).close()
        except psycopg.OperationalError as error:
            if process.poll() is not None or "SSL required" in str(error):
                return
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)
        else:
            return
