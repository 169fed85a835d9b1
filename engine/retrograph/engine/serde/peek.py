"""What the first bytes of an extension's payload say, without unpacking it."""

from __future__ import annotations


def peek_names(raw: bytes) -> tuple[str, str] | None:
    """Module and class name in the first bytes of a payload, which may be cut after them."""
    try:
        if 0x92 <= raw[0] <= 0x9F:
            module, at = short_text(raw, 1)
            name, _ = short_text(raw, at)
            return module, name
    except (IndexError, UnicodeDecodeError, ValueError):
        pass
    return None


def short_text(raw: bytes, at: int) -> tuple[str, int]:
    """A string of up to 255 bytes at `at`, and where it ends. Raises `IndexError` where it is cut,
    `ValueError` where it is no such string."""
    head = raw[at]
    if 0xA0 <= head <= 0xBF:
        begin, end = at + 1, at + 1 + (head & 31)
    elif head == 0xD9:
        begin, end = at + 2, at + 2 + raw[at + 1]
    else:
        raise ValueError
    if end > len(raw):
        raise IndexError
    return raw[begin:end].decode("utf-8"), end
