"""Which encoding a text file has, told from its bytes."""

from __future__ import annotations

import codecs

from crowdcore.data import DataError
from crowdcore.reading.parsing.source import Content

_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\r\f\x1b"))
_MAX_CONTROL_SHARE = 0.02
_NOT_TEXT = "Give a CSV, TSV, JSON, JSONL or Parquet file."

_BINARIES = {
    b"PK\x03\x04": ("a zip archive or an Excel workbook", "Save the sheet as CSV, or unpack it."),
    b"\xd0\xcf\x11\xe0": ("an old Excel workbook", "Save the sheet as CSV."),
    b"\x1f\x8b": ("a gzip archive", "Unpack it first."),
    b"BZh": ("a bzip2 archive", "Unpack it first."),
    b"\xfd7zXZ": ("an xz archive", "Unpack it first."),
    b"\x28\xb5\x2f\xfd": ("a zstd archive", "Unpack it first."),
    b"\x93NUMPY": ("a NumPy array", "Give it as features, beside a table of labels."),
    b"%PDF": ("a PDF", _NOT_TEXT),
    b"SQLite format 3": ("an SQLite database", "Export the table as CSV."),
    b"ARROW1": ("an Arrow file", "Save it as Parquet."),
}


def text_encoding(content: Content) -> str | None:
    """Tell the encoding of a text file from its first bytes.

    Parameters
    ----------
    content
        The file.

    Returns
    -------
    str or None
        "utf-8-sig", "utf-8", a form of "utf-16", or "cp1252" where UTF-8 fails; None where the
        file is not a text.
    """
    head = content.head
    if head.startswith(tuple(_BINARIES)):
        return None
    if head.startswith(codecs.BOM_UTF8):
        return "utf-8-sig"
    if head.startswith(_UTF16):
        return "utf-16"
    if unmarked := _unmarked_utf16(head):
        return unmarked
    n_controls = len(head) - len(head.translate(None, _CONTROLS))
    if b"\0" in head or n_controls > _MAX_CONTROL_SHARE * len(head):
        return None
    return "utf-8" if _is_utf8(head) else "cp1252"


def binary_error(content: Content) -> DataError:
    """Say what a file is that is not a text, where its first bytes tell."""
    for magic, (kind, fix) in _BINARIES.items():
        if content.head.startswith(magic):
            return DataError(f"This is {kind}, not a table", file=content.name, fix=fix)
    return DataError("The file is binary, not text", file=content.name, fix=_NOT_TEXT)


def text_head(content: Content, encoding: str) -> str:
    """Decode the first bytes of a file; a character that is cut at the end is left out.

    Parameters
    ----------
    content
        The file.
    encoding
        What `text_encoding` gave.

    Returns
    -------
    str

    Raises
    ------
    DataError
        If the bytes are not in the encoding, or the file is blank.
    """
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        head = decoder.decode(content.head, final=content.buffer.size <= len(content.head))
    except UnicodeDecodeError:
        raise encoding_error(content, encoding) from None
    if not head.strip():
        raise DataError("The file is blank", file=content.name, fix="Choose a file with labels.")
    return head


def decode(content: Content, encoding: str) -> tuple[str, str]:
    """Decode a whole file.

    Parameters
    ----------
    content
        The file.
    encoding
        What `text_encoding` gave.

    Returns
    -------
    tuple of str
        The text, and the encoding that worked.

    Raises
    ------
    DataError
        If the bytes are not in the encoding.
    """
    data = content.all()
    try:
        return data.decode(encoding), encoding
    except UnicodeDecodeError:
        if encoding == "utf-8" and _broken_utf8_error(content) is None:
            return decode(content, "cp1252")
        raise encoding_error(content, encoding) from None


def encoding_error(content: Content, encoding: str) -> DataError:
    """Say that a file is in none of the known encodings."""
    if encoding.startswith("utf-8") and (broken := _broken_utf8_error(content)):
        return broken
    tried = "neither UTF-8 nor Windows-1252" if encoding == "cp1252" else f"not proper {encoding}"
    return DataError(f"The text is {tried}", file=content.name, fix="Save the file as UTF-8.")


def _broken_utf8_error(content: Content) -> DataError | None:
    """Tell a broken UTF-8 file from one in another encoding, which has no UTF-8 before the fault.

    Only called when UTF-8 has failed, so the whole file may be decoded once more.
    """
    data = content.all()
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        before = data[: error.start]
        start = len(codecs.BOM_UTF8) if before.startswith(codecs.BOM_UTF8) else 0
        if before[start:].isascii() and not start:
            return None
        return DataError(
            "The file is UTF-8, but one of its bytes is not",
            file=content.name,
            row=before.count(b"\n") + 1,
            fix="Repair that line, or save the file as UTF-8 again.",
        )
    return None


def _is_utf8(head: bytes) -> bool:
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError as error:
        return not head[: error.start].isascii()  # broken UTF-8 rather than another encoding
    return True


def _unmarked_utf16(head: bytes) -> str | None:
    """Recognise UTF-16 without a mark by the zero half of its Latin letters."""
    half = len(head) // 2
    n_even, n_odd = head[0::2].count(0), head[1::2].count(0)
    for name, n_zeros, n_stray in (("utf-16-le", n_odd, n_even), ("utf-16-be", n_even, n_odd)):
        if half and n_zeros > 0.4 * half and n_stray < 0.05 * half:
            text = head.decode(name, "replace")
            n_printable = sum(sign.isprintable() or sign in "\t\r\n" for sign in text)
            return name if n_printable > 0.95 * len(text) else None
    return None
