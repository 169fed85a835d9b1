"""The family of errors that are said to a person, one sentence each.

    RetrographError
    ├── SourceError        what was given cannot be opened, or is not a checkpoint store
    ├── RefError     a thread, checkpoint or path that is not there, or not unique
    ├── ConfigError        a configuration file or environment variable is wrong
    ├── DecodeError        bytes that cannot be turned into a value
    ├── UsageError         a call whose words do not fit together
    ├── GraphError         the user's graph cannot be found or loaded
    ├── HostError          what was asked of the process that runs the graph could not be done
    │   ├── HostDiedError      that process is gone
    │   └── HostTimeoutError   it has not ended in time
    └── Cancelled          a reading that was stopped on request

Each message says what is wrong, where, and what to do; it stands alone, without a traceback.
"""

from __future__ import annotations


class RetrographError(Exception):
    """Something that the user can be told in one sentence (exit code 2)."""


class SourceError(RetrographError):
    """What was given as SOURCE cannot be opened or read."""


class RefError(RetrographError):
    """A reference names nothing, or more than one thing."""


class ConfigError(RetrographError):
    """A configuration value is wrong or unknown."""


class DecodeError(RetrographError):
    """Stored bytes cannot be decoded; the message says why."""


class UsageError(RetrographError):
    """The words of a call do not fit together."""


class Cancelled(RetrographError):
    """A reading was stopped by `Loader.interrupt()`."""


class GraphError(RetrographError):
    """The user's graph cannot be found or loaded; the message says whose fault it is."""


class HostError(RetrographError):
    """What was asked of the process that runs the user's graph could not be done (exit code 1)."""


class HostDiedError(HostError):
    """That process is gone: a node ended it, it crashed, or somebody killed it."""


class HostTimeoutError(HostError):
    """What was asked has not ended in time; the process still runs until it is closed."""
