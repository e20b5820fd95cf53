"""The sections that look ahead and back: what next, and raters over time."""

import numpy as np
import pandas as pd
import pytest

from multirater.report import write_report


@pytest.fixture
def study(tmp_path):
    """Anna learns; half of the labels are missing."""
    random = np.random.default_rng(0)
    n, truth = 120, random.integers(0, 2, 120)
    rows = []
    for rater in ("anna", "bert", "cleo", "dora"):
        right = np.linspace(0.3, 1, n) if rater == "anna" else np.full(n, 0.9)
        said = np.where(random.random(n) < right, truth, 1 - truth)
        rows += [
            (f"{k:03d}", rater, f"c{said[k]}", f"2025-{1 + k // 20:02d}-{1 + k % 20:02d}")
            for k in range(n)
            if rater == "anna" or random.random() < 0.7
        ]
    table = pd.DataFrame(rows, columns=["case", "rater", "label", "when"])
    table.to_csv(tmp_path / "manifest.csv", index=False)
    return tmp_path


def test_the_page_names_who_learns_and_what_to_ask_for_next(study):
    page = write_report(study, study / "report.html").read_text(encoding="utf-8")
    time = page.split('<section id="time"')[1].split("</section>")[0]
    assert "learns: from" in time
    assert "2025-01-01 to 2025-06-20" in time
    ahead = page.split('<section id="what-next"')[1].split("</section>")[0]
    assert "The next labels are expected to lower it" in ahead
    assert "<svg" in ahead
    assert "cleo" in ahead or "bert" in ahead or "dora" in ahead


def test_without_dates_nothing_is_said_of_time(study):
    table = pd.read_csv(study / "manifest.csv", dtype=str).drop(columns="when")
    table.to_csv(study / "manifest.csv", index=False)
    page = write_report(study, study / "report.html").read_text(encoding="utf-8")
    assert '<section id="time"' not in page
