from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from multirater.dataset_time import rater_trends, trend_words
from multirater.errors import InputError
from multirater.io import read_dataset, write_dataset
from multirater.io.survey import survey
from multirater.io.tables.dates import day_of


def table(seed=0, n=160):
    """Anna learns, bert drifts, the others stay as they are; one label a day."""
    random = np.random.default_rng(seed)
    share = np.linspace(0, 1, n)
    right = {
        "anna": 0.4 + 0.55 * share,
        "bert": 0.95 - 0.55 * share,
        **{name: np.full(n, 0.85) for name in ("cleo", "dora", "emil")},
    }
    truth = random.integers(0, 3, n)
    rows = []
    for rater, chance in right.items():
        said = np.where(random.random(n) < chance, truth, (truth + random.integers(1, 3, n)) % 3)
        days = pd.date_range("2025-01-01", periods=n).strftime("%Y-%m-%d")
        rows += [
            (f"{k:03d}", rater, f"c{o}", d) for k, (o, d) in enumerate(zip(said, days, strict=True))
        ]
    return pd.DataFrame(rows, columns=["case", "rater", "label", "when"])


def trends(frame):
    return {each.rater: each for each in rater_trends(survey(read_dataset(frame)))}


def test_who_learns_and_who_drifts_is_named_and_the_others_are_steady():
    found = trends(table())
    assert found["anna"].course == "learning"
    assert found["bert"].course == "drift"
    assert {found[name].course for name in ("cleo", "dora", "emil")} == {"steady"}
    assert found["anna"].low > 0
    assert trend_words(found["anna"]).startswith("learns: from 0.")
    values = [span.value for span in found["bert"].spans]
    assert values[0] > values[2] > values[-1]
    assert all(span.low <= span.value <= span.high for span in found["anna"].spans)


def test_nothing_is_said_without_dates_and_little_with_few():
    assert rater_trends(survey(read_dataset(table().drop(columns="when")))) == []
    few = trends(table(n=6))
    assert {each.course for each in few.values()} == {"unknown"}


def test_chance_is_seldom_called_a_course():
    frame = table(n=120)
    steady = frame[frame["rater"].isin(["cleo", "dora", "emil"])]
    called = 0
    for seed in range(8):
        order = np.random.default_rng(seed).permutation(120)
        days = dict(zip(sorted(set(steady["case"])), steady["when"].unique()[order], strict=True))
        found = trends(steady.assign(when=steady["case"].map(days)))
        called += any(each.course in ("learning", "drift") for each in found.values())
    assert called <= 2


def test_drawings_have_a_course_too(digits_folder):
    dataset = read_dataset(digits_folder)
    cases = tuple(
        replace(case, when=dict.fromkeys(case.labels, f"2025-03-{day:02d}"))
        for day, case in enumerate(dataset, start=1)
    )
    found = {each.rater: each for each in rater_trends(survey(replace(dataset, cases=cases)))}
    assert set(found) == set(dataset.raters)
    assert found["good"].spans[0].value > found["wrong"].spans[0].value


def test_dates_are_kept_when_a_study_is_written(digits_folder, tmp_path):
    dataset = read_dataset(digits_folder)
    first = replace(dataset.cases[0], when={"good": "2025-03-01T10:00:00Z"})
    written = write_dataset(replace(dataset, cases=(first, *dataset.cases[1:])), tmp_path / "new")
    assert dict(read_dataset(written).cases[0].when) == {"good": "2025-03-01T10:00:00Z"}


def test_what_is_no_date_is_refused_with_its_place():
    with pytest.raises(InputError, match=r"'yesterday'.*\n.*2025-03-01"):
        read_dataset(table().assign(when="yesterday"))


@pytest.mark.parametrize("text", ["2025-03-01", "2025-03-01 08:30", "2025-03-01T08:30:00+02:00"])
def test_dates_and_times_are_read(text):
    assert day_of(text) == pytest.approx(20148, abs=0.5)
