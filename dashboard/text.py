"""Text from the data, made safe for Markdown."""

from __future__ import annotations

import re
from collections.abc import Sequence

from crowdcore.wording import count

WORD_JOINER = "\u2060"

# Line separators and the signs that turn the direction of writing, which can hide what a name says.
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u200b\u2028-\u202e\u2066-\u2069\ufeff]+")
_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")
# Streamlit looks for these in finished text, where a backslash is gone: emoji and icon names
# between colons, and addresses. An invisible joiner after the sign keeps them plain.
_LATE = re.compile(r":(?=[\w+-])|(?<=[\w])[@](?=\w)|(?<=\bwww)\.|:(?=//)", re.IGNORECASE)


def escape_md(text: object, *, limit: int | None = None) -> str:
    """Make a string from the data show as itself wherever Streamlit reads Markdown.

    Nothing in it becomes an image, a link, a formula, an icon or a heading; line breaks become
    spaces. `limit` cuts a long text and marks the cut.
    """
    plain = _UNSEEN.sub(" ", str(text)).strip()
    if limit is not None and len(plain) > limit:
        plain = plain[: max(1, limit - 1)].rstrip() + "…"
    return _PUNCTUATION.sub(r"\\\1", _LATE.sub(lambda sign: sign[0] + WORD_JOINER, plain))


def list_names(names: Sequence[str], *, max_names: int = 12, limit: int = 30) -> str:
    """List names from the data, safe for Markdown; of many the first, and how many more."""
    listed = ", ".join(escape_md(name, limit=limit) for name in names[:max_names])
    n_more = len(names) - max_names
    return f"{listed} and {count(n_more)} more" if n_more > 0 else listed
