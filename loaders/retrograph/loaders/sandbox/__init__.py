"""Sandboxes as sources: their own checkpoints, joined to the line of the source they are from."""

from retrograph.loaders.sandbox.loader import SandboxLoader

__all__ = ["SandboxLoader"]
