"""What is fixed about the commands before any of them is imported."""

from __future__ import annotations

COMMANDS = (
    *("open", "demo", "threads", "tree", "show", "diff", "grep", "blame", "graph"),
    *("fork", "replay", "resume", "sandboxes", "config"),
)
"""In the order of the help. Each has a module of its name in `retrograph.cli.commands`."""

EVERYWHERE = frozenset(("--json", "--debug", "--no-redact"))
"""Options that every command has; they may stand before the command too."""
