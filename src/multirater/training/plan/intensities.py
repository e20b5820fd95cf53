"""How intensities are normalised."""

from __future__ import annotations

from multirater.training.fingerprint import Fingerprint
from multirater.training.normalisation import OWN, Normalisation


def intensities(seen: Fingerprint, reasons: dict[str, str]) -> Normalisation:
    """Return the normalisation that the kind of the images asks for."""
    if seen.image == "ct":
        reasons["intensities"] = (
            f"CT: cut to {seen.low[0]:.0f} to {seen.high[0]:.0f} HU, as inside what raters drew, "
            "the same scale for all"
        )
        return Normalisation("study", seen.mean, seen.deviation, seen.low, seen.high)
    if seen.image == "colour":
        reasons["intensities"] = "colour: one scale per channel for all photographs"
        return Normalisation("study", seen.mean, seen.deviation)
    reasons["intensities"] = "each image by its own mean and deviation: they have no unit"
    return OWN
