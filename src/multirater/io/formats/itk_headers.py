"""What the headers of NRRD and MetaImage files say of their data, before ITK follows them.

ITK reads whatever file a header names, takes the memory it claims, and does not look at the
checksum of packed data. Here the claims are held against what is there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from math import prod
from pathlib import Path

from multirater.errors import Fault, InputError
from multirater.io.formats.claims import require_room, require_sound
from multirater.io.formats.own_folder import inside

_LONGEST_HEADER = 2**20

_NRRD_BYTES = {
    **dict.fromkeys(("signed char", "int8", "int8_t", "uchar", "unsigned char", "uint8"), 1),
    **dict.fromkeys(("uint8_t", "block"), 1),
    **dict.fromkeys(("short", "int16", "int16_t", "ushort", "uint16", "uint16_t"), 2),
    **dict.fromkeys(("short int", "signed short", "signed short int"), 2),
    **dict.fromkeys(("unsigned short", "unsigned short int"), 2),
    **dict.fromkeys(("int", "signed int", "int32", "int32_t", "uint", "uint32", "uint32_t"), 4),
    **dict.fromkeys(("unsigned int", "float"), 4),
}
"""Bytes of NRRD's types; those that are not named have eight at most."""

_META_FIELDS = {
    name.lower(): name
    for name in (
        *("DimSize", "ElementType", "ElementNumberOfChannels", "ElementDataFile", "NDims"),
        *("CompressedData", "CompressedDataSize", "HeaderSize", "BinaryData"),
    )
}
"""Fields of MetaImage that say where data are and how many, as ITK spells them."""

_MOST_AXES = 10
"""Of an NRRD file: ITK crashes on twelve."""

_LARGEST_VALUE = 8
"""Bytes of a value; written as text, it has one at least."""

_META_BYTES = {"CHAR": 1, "SHORT": 2, "INT": 4, "FLOAT": 4, "LONG": 4}


@dataclass(frozen=True)
class DataClaim:
    """What a header says of its data.

    Attributes:
        n_bytes: unpacked.
        packing: `raw`, `gzip`, `bzip2`, `zlib`, or another that is left to ITK.
        names: files that hold the data; empty where they follow the header.
        offset: of data that follow the header.
        n_packed: bytes of packed data that ITK takes; -1 for all that are there.
    """

    n_bytes: int
    packing: str
    names: tuple[str, ...]
    offset: int
    n_packed: int = -1


def require_honest_header(path: Path, *, is_nrrd: bool) -> DataClaim:
    """Refuse a header that ITK cannot be given: of many axes, of two meanings, of other folders.

    Raises:
        InputError: data lie outside the folder, or nowhere.
        ValueError: the header cannot be understood.
    """
    claim = _nrrd_claim(path) if is_nrrd else _meta_claim(path)
    _data_files(path, claim)
    return claim


def require_honest(path: Path, *, is_nrrd: bool) -> None:
    """Refuse claims that cannot be, data of other folders, and packed data that are damaged.

    Raises:
        InputError: with what is wrong.
        ValueError: the header cannot be understood, or data are damaged.
    """
    claim = require_honest_header(path, is_nrrd=is_nrrd)
    files = _data_files(path, claim)
    require_room(claim.n_bytes, *files)
    for file in files:
        _require_data(file, 0 if claim.names else claim.offset, claim, len(files))


def _require_data(file: Path, offset: int, claim: DataClaim, n_files: int) -> None:
    """Hold one data file, which begins at `offset`, against its part of the claim."""
    n_bytes, n_there = claim.n_bytes // n_files, file.stat().st_size - offset
    if claim.packing in ("gzip", "bzip2", "zlib"):
        with file.open("rb") as stream:
            stream.seek(offset)
            packed = stream if claim.n_packed < 0 else BytesIO(stream.read(claim.n_packed))
            require_sound(packed, claim.packing, n_bytes)
    elif n_there < (n_bytes if claim.packing == "raw" else n_bytes // _LARGEST_VALUE):
        raise ValueError(f"it is truncated: {max(n_there, 0)} of {n_bytes} bytes")


def _data_files(path: Path, claim: DataClaim) -> list[Path]:
    files = [inside(path, name) for name in claim.names]
    for file, name in zip(files, claim.names, strict=True):
        if not file.is_file():
            raise InputError(
                Fault(
                    f"takes its pixels from {name or 'a file without name'}, which is not there",
                    expected="a data file beside the header, or below",
                    fix="put the data beside the header, or correct the name there",
                    file=str(path),
                )
            )
    return files or [path]


def _nrrd_claim(path: Path) -> DataClaim:
    lines, offset = _lines_to_blank(path)
    if not lines[0].startswith("NRRD"):
        raise ValueError("it does not begin with NRRD")
    fields = {}
    for number, line in enumerate(lines):
        name, colon, value = line.partition(":")
        if colon and not value.startswith("=") and not line.startswith("#"):
            fields[name.strip().lower().replace(" ", "")] = (value.strip(), number)
    sizes = [int(each) for each in fields["sizes"][0].split()]
    if len(sizes) > _MOST_AXES:
        raise ValueError(f"it has {len(sizes)} axes, {_MOST_AXES} at most can be read")
    one = _NRRD_BYTES.get(fields["type"][0].lower(), 8)
    packing = fields.get("encoding", ("raw", 0))[0].lower()
    packing = {"gz": "gzip", "bz2": "bzip2"}.get(packing, packing)
    if {"byteskip", "lineskip"} & set(fields):
        if packing != "raw":
            # ITK looks for the end of packed data again and again.
            raise ValueError("its header skips a part of data that are not raw")
        packing = "other"
    named, at = fields.get("datafile", ("", 0))
    names: Sequence[str] = (named,) if named else ()
    if named.upper().startswith("LIST"):
        names = [line.strip() for line in lines[at + 1 :]]
        if path.read_bytes()[offset:].strip():
            raise ValueError("its list of data files has an empty line, after which it goes on")
    _require_plain(names)
    return DataClaim(_size(sizes) * one, packing, tuple(names), offset)


def _meta_claim(path: Path) -> DataClaim:
    fields, offset, listed = _meta_fields(path)
    sizes = [int(each) for each in fields["dimsize"].split()]
    if fields.get("ndims") != str(len(sizes)) or len(sizes) > _MOST_AXES:
        raise ValueError(f"it has {len(sizes)} sizes of {fields.get('ndims', 'no')} axes (NDims)")
    kind = fields["elementtype"].upper().removeprefix("MET_").replace("UCHAR", "CHAR")
    one = _META_BYTES.get(kind.removesuffix("_ARRAY").removeprefix("U"), _LARGEST_VALUE)
    n_channels = int(fields.get("elementnumberofchannels", "1"))
    if n_channels < 1:
        raise ValueError(f"it has {n_channels} channels")
    names = _meta_names(fields["elementdatafile"], listed, sizes)
    is_packed = fields.get("compresseddata", "false").lower() in ("true", "1")
    n_packed = int(fields.get("compresseddatasize", "0")) or -1
    if is_packed and n_packed < 1:
        # Without it ITK unpacks nothing, and takes whatever was in its memory for pixels.
        raise ValueError("its header does not say how many bytes are packed (CompressedDataSize)")
    if is_packed and fields.get("headersize", "0") != "0":
        raise ValueError("its header skips a part of packed data (HeaderSize)")
    is_text = fields.get("binarydata", "true").lower() not in ("true", "1")
    packing = "zlib" if is_packed else "text" if is_text else "raw"
    return DataClaim(_size(sizes) * one * n_channels, packing, names, offset, n_packed)


def _meta_names(named: str, listed: Sequence[str], sizes: Sequence[int]) -> tuple[str, ...]:
    """Return the data files that a header names, none if data follow it."""
    if named.upper() == "LOCAL":
        return ()
    if not named.upper().startswith("LIST"):
        _require_plain([named])
        return (named,)
    n_axes = int(named[4:].strip().rstrip("dD") or len(sizes) - 1)
    n_files = prod(sizes[n_axes:])
    if not 0 < n_axes < len(sizes) or n_files != len(listed):
        # ITK fills what is missing with whatever was in its memory.
        raise ValueError(f"it lists {len(listed)} data files, {n_files} are needed")
    _require_plain(listed)
    return tuple(listed)


def _meta_fields(path: Path) -> tuple[dict[str, str], int, list[str]]:
    """Return the fields by name, where the header ends, and the lines after it."""
    fields: dict[str, str] = {}
    with path.open("rb") as stream:
        for raw in iter(stream.readline, b""):
            said, equals, value = _line(raw).partition("=")
            if not equals or stream.tell() > _LONGEST_HEADER:
                break
            name = said.strip().lower()
            _require_one_meaning(said.strip(), fields)
            fields[name] = value.strip()
            if name == "elementdatafile":
                offset = stream.tell()
                is_list = value.strip().upper().startswith("LIST")
                rest = stream.read(_LONGEST_HEADER).rstrip() if is_list else b""
                return fields, offset, [_line(line).strip() for line in rest.split(b"\n")]
    raise ValueError("its header does not name its data (ElementDataFile)")


def _require_one_meaning(name: str, before: Mapping[str, str]) -> None:
    """Refuse a field that ITK would read in another way than we do: it minds case, and takes `:`.

    Args:
        name: as the header has it.
        before: fields above it, by their names in lower case.

    Raises:
        ValueError: it has two meanings.
    """
    if ":" in name:
        raise ValueError(f"its header has {name!r} before a =, where both : and = may separate")
    meant = _META_FIELDS.get(name.lower())
    if meant is not None and name != meant:
        raise ValueError(f"its header has {name!r}, which is written {meant}")
    if meant is not None and name.lower() in before:
        raise ValueError(f"its header says {meant} twice")


def _lines_to_blank(path: Path) -> tuple[list[str], int]:
    lines: list[str] = []
    with path.open("rb") as stream:
        for raw in iter(stream.readline, b""):
            line = _line(raw)
            if not line:
                break
            lines.append(line)
            if stream.tell() > _LONGEST_HEADER:
                raise ValueError("its header does not end")
        if not lines:
            raise ValueError("it is empty")
        return lines, stream.tell()


def _require_plain(names: Sequence[str]) -> None:
    """Refuse names with numbers to be filled in, which ITK hands to `printf` as they are."""
    for name in names:
        if "%" in name:
            raise InputError(
                Fault(
                    f"takes its pixels from numbered files, {name}",
                    expected="the name of one data file, or LIST and a name on each line",
                    fix="list the files, or save the image as one file",
                )
            )


def _line(raw: bytes) -> str:
    """Return a line of a header; some readers take a carriage return within it for its end."""
    line = raw.decode("latin-1").rstrip("\r\n")
    if "\r" in line:
        raise ValueError("its header has a carriage return within a line")
    return line


def _size(sizes: Sequence[int]) -> int:
    if not sizes or min(sizes) < 0:
        raise ValueError(f"it has sizes {list(sizes)}")
    return prod(sizes)
