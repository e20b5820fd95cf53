"""What every verb shares: -q, -v, --debug, and a clear word instead of a traceback."""

from __future__ import annotations

import errno
import functools
import inspect
import math
import sys
import warnings
from collections.abc import Callable
from typing import Annotated, Any

import typer

from multirater.cli.faults import faults_text
from multirater.errors import Fault, InputError, MultiraterWarning
from multirater.extras import MissingExtraError, extra
from multirater.progress import show_progress
from multirater.terminal import harmless

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but the result.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Say more, every warning too.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]

_SHARED = [
    inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=False, annotation=annotation)
    for name, annotation in (("quiet", Quiet), ("verbose", Verbose), ("debug", Debug))
]


def verb(function: Callable[..., None]) -> Callable[..., None]:
    """Add the shared options to a handler and turn faults of the input into exit status 2."""
    signature = inspect.signature(function, eval_str=True)
    own = [
        each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in signature.parameters.values()
    ]

    @functools.wraps(function)
    def run(*, quiet: bool, verbose: bool, debug: bool, **arguments: Any) -> None:
        show_progress(not quiet)
        _set_warnings(quiet=quiet, verbose=verbose)
        try:
            _require_finite(arguments)
            with extra():
                function(**arguments)
        except (InputError, OSError, MissingExtraError, MemoryError) as error:
            if debug or isinstance(error, BrokenPipeError):
                raise
            _print_error(error)
            raise typer.Exit(2) from None

    run.__signature__ = signature.replace(parameters=[*own, *_SHARED])  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in [*own, *_SHARED]}
    return run


def _require_finite(arguments: dict[str, Any]) -> None:
    """Refuse numbers that are none, whatever the verb would have made of them."""
    for name, value in arguments.items():
        if isinstance(value, float) and not math.isfinite(value):
            option = "--" + name.replace("_", "-")
            raise InputError(Fault(f"{option} {value}", expected="a finite number"))


def _print_error(error: InputError | OSError | MissingExtraError | MemoryError) -> None:
    if isinstance(error, InputError):
        count = len(error.faults)
        heading = "error: " if count == 1 else f"{count} errors:\n"
        print(harmless(f"{heading}{faults_text(error.faults)}"), file=sys.stderr)
    elif isinstance(error, MemoryError):
        print(harmless(f"error: there is not enough memory: {error}".rstrip(": ")), file=sys.stderr)
        print("  to do: use fewer --workers, smaller images, or a larger machine", file=sys.stderr)
    elif isinstance(error, MissingExtraError):
        print(f"error: {error}", file=sys.stderr)
    else:
        name = f"{error.filename}: " if error.filename else ""
        print(harmless(f"error: {name}{error.strerror or error}"), file=sys.stderr)
        if error.errno == errno.ENOSPC:
            print("  to do: free some space, then run again (fuse: with --resume)", file=sys.stderr)


def _set_warnings(*, quiet: bool, verbose: bool) -> None:
    """Show the package's own warnings as plain lines; others only when asked for."""
    if not verbose:
        warnings.simplefilter("ignore")
    warnings.simplefilter("ignore" if quiet else "always", MultiraterWarning)

    def show(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        kind = "warning" if issubclass(category, MultiraterWarning) else category.__name__
        print(harmless(f"{kind}: {message}"), file=sys.stderr)

    warnings.showwarning = show
