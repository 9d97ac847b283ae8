"""Texts that Postgres hashes to a chosen number: hashtextextended is fast and well spread, and no secret."""

from itertools import count

State = tuple[int, int, int]

WORD = 2**32 - 1
# A text of twelve bytes is three words, which is all that the hash ever holds: it forgets nothing.
LENGTH = 12
START = (0x9E3779B9 + LENGTH + 3923095) & WORD
PRINTABLE = frozenset(range(0x20, 0x7F))


def text_with_hash(wanted: int, seed: int) -> str:
    """Twelve printable characters of which `hashtextextended(text, seed)` makes the wanted number."""
    before = mix(START + (seed >> 32 & WORD), START + (seed & WORD), START) if seed else (START, START, START)
    # The number is two of the three words at the end. The third is free: some 150,000 guesses give a printable text.
    for guess in count():
        after = unmix(unfinish((guess, wanted >> 32 & WORD, wanted & WORD)))
        words = [(then - now) & WORD for then, now in zip(after, before, strict=True)]
        text = b"".join(word.to_bytes(4, "little") for word in words)
        if PRINTABLE.issuperset(text):
            return text.decode("ascii")
    raise AssertionError("guesses never end")


def rotated(word: int, bits: int) -> int:
    return (word << bits | word >> 32 - bits) & WORD


def mix(a: int, b: int, c: int) -> State:
    """The `mix` of Bob Jenkins' lookup3, as in Postgres' hashfn.c."""
    a, b, c = a & WORD, b & WORD, c & WORD
    for bits in (4, 6, 8, 16, 19, 4):
        a = (a - c & WORD) ^ rotated(c, bits)
        c = c + b & WORD
        # Each step does the same to the next word.
        a, b, c = b, c, a
    return a, b, c


def unmix(state: State) -> State:
    a, b, c = state
    for bits in (4, 19, 16, 8, 6, 4):
        a, b, c = c, a, b
        c = c - b & WORD
        a = (a ^ rotated(c, bits)) + c & WORD
    return a, b, c


def unfinish(state: State) -> State:
    """`final` of lookup3, backwards."""
    a, b, c = state
    for bits in (24, 14, 4, 16, 25, 11, 14):
        c = (c + rotated(b, bits) & WORD) ^ b
        a, b, c = c, a, b
    # Seven steps end one word further than they began.
    return b, c, a
