"""What a user sees when their input cannot be used.

Inner code raises an `InputError` with a short `Fault`; whoever knows more (the case, the rater, the
file) adds it on the way out with `InputError.at`. A data set is checked as a whole, so one
`InputError` may carry many faults.

Example:
    >>> fault = Fault("has size 10 x 10", expected="12 x 12, the size of the image",
    ...               fix="draw the mask on the image it belongs to")
    >>> print(fault.at(case="p07", rater="anna"))
    case p07, rater anna: has size 10 x 10
      expected: 12 x 12, the size of the image
      to do: draw the mask on the image it belongs to
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong: what was found, where, what was expected and what to do."""

    found: str
    expected: str = ""
    fix: str = ""
    file: str = ""
    case: str = ""
    rater: str = ""

    def at(
        self, *, file: str | Path | None = None, case: str | None = None, rater: str | None = None
    ) -> Fault:
        """Return the fault with the places that were not known yet filled in."""
        return replace(
            self,
            file=self.file or str(file or ""),
            case=self.case or (case or ""),
            rater=self.rater or (rater or ""),
        )

    @property
    def headline(self) -> str:
        """Where it is and what was found, in one line."""
        places = [("case", self.case), ("rater", self.rater), ("file", self.file)]
        where = ", ".join(f"{kind} {value}" for kind, value in places if value)
        return f"{where}: {self.found}" if where else self.found

    @property
    def advice(self) -> list[str]:
        """What was expected and what to do, a line each."""
        said = [("expected", self.expected), ("to do", self.fix)]
        return [f"  {name}: {text}" for name, text in said if text]

    def __str__(self) -> str:
        return "\n".join([self.headline, *self.advice])


class InputError(Exception):
    """The user's input cannot be used; carries every fault that was found."""

    def __init__(self, faults: Fault | Sequence[Fault]) -> None:
        self.faults: tuple[Fault, ...] = (faults,) if isinstance(faults, Fault) else tuple(faults)
        super().__init__(self.faults)

    def at(
        self, *, file: str | Path | None = None, case: str | None = None, rater: str | None = None
    ) -> InputError:
        """Return the same error with case, rater and file filled in where they were missing."""
        return InputError([fault.at(file=file, case=case, rater=rater) for fault in self.faults])

    def __str__(self) -> str:
        return "\n".join(str(fault) for fault in self.faults)


class MultiraterWarning(UserWarning):
    """The result can be used, but not blindly."""
