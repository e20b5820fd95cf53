"""Headless Chromium for tests that look at pages."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

_FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]
NEEDED = "MULTIRATER_NEEDS_BROWSER"
"""Set where a missing browser must not pass unnoticed: in continuous integration."""


@contextmanager
def headless_chromium() -> Iterator[Any]:
    """Start the browser; skip the test where there is none, unless it is needed."""
    names = ("chromium", "chromium-browser", "google-chrome")
    found = next((path for name in names if (path := shutil.which(name))), None)
    if found is None:
        reason = "no Chromium on this machine (apt-get install chromium)"
        if os.environ.get(NEEDED):
            pytest.fail(reason)
        pytest.skip(reason)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=_FLAGS)
        try:
            yield browser
        finally:
            browser.close()
