"""SQLite: checkpoint stores of LangGraph since 0.1 and of LangGraph.js, read without a trace.

`files` looks at the files, `locks` holds the shared lock, `connect` and `copies` open, `store`
reads page by page whatever happens to the files, `salvage` reads around damage, `layout` knows
the generations, `queries` writes the SQL, `rows` and `threads` turn it into the model, `heads` and
`walks` read many rows, `loader` is the loader.

A process must not use this on a file that it also writes: POSIX locks belong to the process.
"""

from retrograph.loaders.sqlite.files import MAGIC
from retrograph.loaders.sqlite.loader import SQLiteLoader

__all__ = ["MAGIC", "SQLiteLoader"]
