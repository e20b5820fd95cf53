"""What a foreign library raises becomes an answer the user can act on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from multirater.errors import Fault, InputError
from multirater.extras import MissingExtraError

_EXPORT_AGAIN = "copy or export the file again, or give it the suffix of what it really is"


@contextmanager
def reading(path: str | Path, kind: str, *, fix: str = _EXPORT_AGAIN) -> Iterator[None]:
    """Turn whatever goes wrong while `path` is read as `kind` into an `InputError` naming it.

    Example:
        >>> with reading("scan.nii", "NIfTI"):
        ...     raise EOFError("got 7 bytes")
        Traceback (most recent call last):
        multirater.errors.InputError: file scan.nii: cannot be read as NIfTI: got 7 bytes
          expected: a whole, undamaged NIfTI file
          to do: copy or export the file again, or give it the suffix of what it really is
    """
    try:
        yield
    except InputError as error:
        raise error.at(file=path) from error.__cause__
    except (MemoryError, MissingExtraError):
        raise
    except FileNotFoundError:
        raise missing(path) from None
    except PermissionError:
        raise InputError(
            Fault("cannot be read: permission denied", fix="ask for read access", file=str(path))
        ) from None
    except Exception as error:
        raise InputError(
            Fault(
                f"cannot be read as {kind}: {reason(error)}",
                expected=f"a whole, undamaged {kind} file",
                fix=fix,
                file=str(path),
            )
        ) from error


@contextmanager
def writing(path: str | Path) -> Iterator[None]:
    """Turn what a library raises while writing into an `InputError`; disk errors pass through."""
    try:
        yield
    except InputError as error:
        raise error.at(file=path) from error.__cause__
    except (MemoryError, MissingExtraError):
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise InputError(
            Fault(
                f"cannot be written: {reason(error)}",
                fix="check that the disk has room and that the folder can be written",
                file=str(path),
            )
        ) from error


def missing(path: str | Path) -> InputError:
    """Return the error for a file that is not there."""
    return InputError(
        Fault(
            "does not exist",
            expected="an image file",
            fix="correct the path, or put the file there",
            file=str(path),
        )
    )


def cannot_hold(what: str, kind: str, instead: Sequence[str]) -> InputError:
    """Return the error for an image that a format has no room for."""
    return InputError(
        Fault(
            f"{what} cannot be held by {kind}",
            expected=f"one of {', '.join(instead)}",
            fix=f"give the file the suffix {instead[0]}",
        )
    )


def reason(error: BaseException) -> str:
    """Return the last line of what a library said, without memory addresses, in one short line."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    text = lines[-1] if lines else type(error).__name__
    text = re.sub(r"<[^<>]* object at 0x[0-9a-f]+>|\(0x[0-9a-f]+\)", "", text)
    return text[:200].strip()
