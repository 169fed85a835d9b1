"""Sandboxes: local copies to fork and replay in, of what a run needs of a thread and no more.

`closure` says which rows that is, `full` gives all ancestors instead, `file` is a sandbox on disk,
`home` the folder of them.
"""

from retrograph.engine.sandbox.closure import (
    Closure,
    begins_fresh,
    for_going_on,
    for_replay,
)
from retrograph.engine.sandbox.file import Origin, Sandbox, add_rows, is_sandbox, read_sandbox
from retrograph.engine.sandbox.home import (
    list_sandboxes,
    remove_sandbox,
    sandbox_path,
    sandboxes_folder,
)
from retrograph.engine.sandbox.make import make_sandbox

__all__ = [
    "Closure",
    "Origin",
    "Sandbox",
    "add_rows",
    "begins_fresh",
    "for_going_on",
    "for_replay",
    "is_sandbox",
    "list_sandboxes",
    "make_sandbox",
    "read_sandbox",
    "remove_sandbox",
    "sandbox_path",
    "sandboxes_folder",
]
