"""Promises that a method cannot keep, each with its reason; an excuse that is not needed fails."""

EXCUSES: dict[tuple[str, str], str] = {
    ("fds", "fake_cuda"): "whether to decide softly or hard depends on numbers in every step",
    ("auto", "fake_cuda"): "it reads back how far its members agree; they are tested themselves",
}
