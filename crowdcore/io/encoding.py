"""Which encoding a text file has, told from its bytes."""

from __future__ import annotations

import codecs

from crowdcore.data import DataError
from crowdcore.io.source import Content

_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\r\f\x1b"))
_MOST_CONTROLS = 0.02
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


def sniff_encoding(content: Content) -> str:
    """Name the encoding: utf-8-sig, utf-8, utf-16 in any form, or cp1252 where UTF-8 fails."""
    head = content.head
    for magic, (what, fix) in _BINARIES.items():
        if head.startswith(magic):
            raise DataError(f"This is {what}, not a table", file=content.name, fix=fix)
    if head.startswith(codecs.BOM_UTF8):
        return "utf-8-sig"
    if head.startswith(_UTF16):
        return "utf-16"
    if bare := _bare_utf16(head):
        return bare
    controls = len(head) - len(head.translate(None, _CONTROLS))
    if b"\0" in head or controls > _MOST_CONTROLS * len(head):
        raise DataError("The file is binary, not text", file=content.name, fix=_NOT_TEXT)
    return "utf-8" if _is_utf8(head) else "cp1252"


def broken_utf8(content: Content) -> DataError | None:
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


def decode(content: Content, encoding: str) -> tuple[str, str]:
    """Decode a whole file; give the text and the encoding that worked."""
    data = content.all()
    try:
        return data.decode(encoding), encoding
    except UnicodeDecodeError:
        if encoding == "utf-8" and broken_utf8(content) is None:
            return decode(content, "cp1252")
        raise undecodable(content, encoding) from None


def undecodable(content: Content, encoding: str) -> DataError:
    """Say that a file is in none of the known encodings."""
    if encoding.startswith("utf-8") and (broken := broken_utf8(content)):
        return broken
    what = "neither UTF-8 nor Windows-1252" if encoding == "cp1252" else f"not proper {encoding}"
    return DataError(f"The text is {what}", file=content.name, fix="Save the file as UTF-8.")


def decode_head(content: Content, encoding: str) -> str:
    """Decode the first bytes; a character that is cut at the end is left out."""
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        return decoder.decode(content.head, final=content.buffer.size <= len(content.head))
    except UnicodeDecodeError:
        raise undecodable(content, encoding) from None


def _is_utf8(head: bytes) -> bool:
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError as error:
        return not head[: error.start].isascii()  # broken UTF-8 rather than another encoding
    return True


def _bare_utf16(head: bytes) -> str | None:
    """Recognise UTF-16 without a mark by the zero half of its Latin letters."""
    half = len(head) // 2
    even, odd = head[0::2].count(0), head[1::2].count(0)
    for name, zeros, others in (("utf-16-le", odd, even), ("utf-16-be", even, odd)):
        if half and zeros > 0.4 * half and others < 0.05 * half:
            text = head.decode(name, "replace")
            plain = sum(sign.isprintable() or sign in "\t\r\n" for sign in text)
            return name if plain > 0.95 * len(text) else None
    return None
