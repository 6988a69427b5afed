"""Schemes of tags: BIO, IOB1, BIOES, BILOU and plain types, all read as BIO."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from crowdcore.data import DataError
from crowdcore.reading.labels.cleaning import Cleaning
from crowdcore.reading.sequences.annotated import AnnotatedText, Tally
from crowdcore.spans import BEGIN, INSIDE, OUTSIDE

_PREFIXED = re.compile(r"([BIOESLUM])[-_](.+)", re.DOTALL)
_TO_BIO = {"E": "I", "L": "I", "M": "I", "S": "B", "U": "B"}


def sequences_of(texts: Iterable[AnnotatedText]) -> Iterator[tuple[str, list[str]]]:
    """Go through all sequences of tags, each with where it stands."""
    for text in texts:
        for worker, tags in text.tags.items():
            yield f"{worker} on {text.name}", tags
        if text.gold is not None:
            yield f"gold of {text.name}", text.gold


def normalise_tags(texts: list[AnnotatedText], cleaning: Cleaning, tally: Tally) -> None:
    """Write all tags in BIO, in place, and count what was not.

    Parameters
    ----------
    texts
        The texts; their tags are changed.
    cleaning
        Whether the scheme of the tags is told or given.
    tally
        Where findings are counted.

    Raises
    ------
    DataError
        If a tag is empty.
    """
    distinct = {tag for _, tags in sequences_of(texts) for tag in tags}
    if "" in distinct:
        raise DataError("A tag is empty", fix="Write O for tokens outside of every span.")
    plain = {tag for tag in distinct if tag != OUTSIDE and not _PREFIXED.fullmatch(tag)}
    spelled = {tag: tag if tag in plain else _spelled(tag) for tag in distinct}
    changed = {tag for tag in distinct - plain if spelled[tag] != tag}
    is_iob1 = cleaning.tag_scheme == "guess" and not plain and _is_iob1(texts, spelled)
    for where, tags in sequences_of(texts):
        before = OUTSIDE  # the tag before, in BIO
        for position, tag in enumerate(tags):
            now = spelled[tag]
            if tag in plain:
                now = (INSIDE if before[2:] == tag and before != OUTSIDE else BEGIN) + tag
                tally.count("tag_scheme", f"{where}: {tag!r} is {now}")
            elif tag in changed:
                tally.count("tag_scheme", f"{where}: {tag!r} is {now}")
            if now.startswith(INSIDE) and (before == OUTSIDE or before[2:] != now[2:]):
                if is_iob1:
                    tally.count("tag_scheme", f"{where}: {tag!r} begins a span, as in IOB1")
                    now = BEGIN + now[2:]
                else:
                    tally.count("begun_inside", f"{where}: {now!r} after {before!r}")
            tags[position] = before = now


def _spelled(tag: str) -> str:
    match = _PREFIXED.fullmatch(tag)
    if tag == OUTSIDE or match is None:
        return OUTSIDE
    prefix, name = match.groups()
    return OUTSIDE if prefix == "O" else f"{_TO_BIO.get(prefix, prefix)}-{name}"


def _is_iob1(texts: Iterable[AnnotatedText], spelled: dict[str, str]) -> bool:
    """Whether B-x occurs only right behind a span of its type, as IOB1 has it."""
    n_begun = 0
    for _, tags in sequences_of(texts):
        before = OUTSIDE
        for tag in tags:
            now = spelled[tag]
            follows = before != OUTSIDE and before[2:] == now[2:]
            if now.startswith(BEGIN) and not follows:
                return False
            n_begun += now.startswith(INSIDE) and not follows
            before = now
    return n_begun > 0


def strip_tags_in_tokens(texts: list[AnnotatedText], cleaning: Cleaning, tally: Tally) -> None:
    """Cut types off tokens, such as Nepal/LOC, which give the answer away; counted."""
    types = {tag.split("-", 1)[-1] for _, tags in sequences_of(texts) for tag in set(tags)}
    types -= {OUTSIDE, ""}
    if not types:
        return
    names = "|".join(re.escape(name) for name in sorted(types, key=len, reverse=True))
    suffix = re.compile(rf"(?<=[^/])[/_|](?:[BIES]-)?(?:{names})")
    for text in texts:
        for position, token in enumerate(text.tokens):
            match = suffix.search(token)
            if match is None or match.end() != len(token):
                continue
            tally.count("tags_in_tokens", f"{text.name}: {token!r}")
            if cleaning.tags_in_tokens == "strip":
                text.tokens[position] = token[: match.start()]
