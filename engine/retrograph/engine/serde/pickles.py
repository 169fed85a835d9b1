"""What a pickle would import, told from its opcodes; it is never loaded."""

from __future__ import annotations

from typing import Final

_MAX_OPS: Final = 200_000
_MAX_NAMES: Final = 200


def names(raw: bytes) -> tuple[str, ...]:
    """Globals named by the first opcodes, "module.Class", in order, each once.

    `STACK_GLOBAL` takes its words from the stack; the last two strings pushed are taken, which is
    what every pickler writes (a hand-made one may differ, so this is information, not a guard).
    """
    # Imported here: few stores hold pickles, and every start would pay for it.
    import pickletools

    found: dict[str, None] = {}
    words: list[str] = []
    memo: dict[int, str] = {}
    try:
        for i, (op, arg, _) in enumerate(pickletools.genops(raw)):
            if i >= _MAX_OPS or len(found) >= _MAX_NAMES:
                break
            if op.name in ("GLOBAL", "INST"):
                found[str(arg).replace(" ", ".", 1)] = None
            elif op.name == "STACK_GLOBAL":
                if len(words) >= 2:
                    found[".".join(words[-2:])] = None
            elif op.name == "MEMOIZE":
                memo[len(memo)] = words[-1] if words else ""
            elif op.name in ("BINGET", "LONG_BINGET", "GET"):
                words.append(memo.get(int(arg or 0), ""))
            elif isinstance(arg, str):
                words.append(arg)
    except Exception:
        # genops raises whatever the bytes provoke; the names so far still stand.
        pass
    return tuple(found)
