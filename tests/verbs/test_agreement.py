import krippendorff
import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import cohen_kappa_score, f1_score

import multirater
from multirater import metrics
from multirater.errors import InputError
from multirater.io import dataset_from_arrays
from multirater.types import Classes, LabelClass

RATED = [{"a": 1, "b": 1}, {"a": 2, "b": 2}, {"a": 5, "b": 2}, {"a": 5, "b": 5}]


@pytest.fixture
def masks(rng):
    truth = rng.random((6, 1, 16, 16)) < 0.3
    return (truth ^ (rng.random((6, 3, 16, 16)) < 0.1)).astype(int)


def test_values_equal_those_of_single_metrics_on_all_pixels(masks):
    found = multirater.agreement(multirater.dataset_from_arrays(masks)).coefficients["value"]
    pixels = masks.transpose(1, 0, 2, 3).reshape(3, -1)
    assert found["Fleiss kappa", "all"] == pytest.approx(metrics.fleiss_kappa(pixels))
    assert found["Gwet AC1", "all"] == pytest.approx(metrics.gwet_ac1(pixels))
    alpha = metrics.krippendorff_alpha(pixels)
    assert found["Krippendorff alpha (nominal)", "all"] == pytest.approx(alpha)


def test_dice_is_the_mean_over_cases_and_pairs(masks):
    found = multirater.agreement(multirater.dataset_from_arrays(masks))
    expected = np.mean(
        [
            f1_score(case[a].ravel(), case[b].ravel())
            for case in masks
            for a, b in ((0, 1), (0, 2), (1, 2))
        ]
    )
    assert found.coefficients["value"]["mean Dice of pairs", "all"] == pytest.approx(expected)
    first = found.pairs.iloc[0]
    assert (first["rater a"], first["rater b"], first["cases"]) == ("rater 1", "rater 2", 6)
    assert first["Cohen kappa"] == pytest.approx(
        cohen_kappa_score(masks[:, 0].ravel(), masks[:, 1].ravel())
    )


def test_intervals_hold_the_value_and_widen_with_the_level(masks):
    data = multirater.dataset_from_arrays(masks)
    narrow = multirater.agreement(data, level=0.5).coefficients
    wide = multirater.agreement(data, level=0.99).coefficients
    assert ((wide["low"] <= wide["value"]) & (wide["value"] <= wide["high"])).all()
    assert ((wide["high"] - wide["low"]) >= (narrow["high"] - narrow["low"])).all()


def test_one_case_gives_no_interval(masks):
    found = multirater.agreement(multirater.dataset_from_arrays(masks[:1])).coefficients
    assert found["low"].isna().all()
    assert found["value"].notna().all()


def test_classes_are_measured_one_against_the_rest(rng):
    labels = rng.integers(0, 3, size=(4, 2, 8, 8))
    labels[:, 1] = np.where(rng.random((4, 8, 8)) < 0.8, labels[:, 0], labels[:, 1])
    found = multirater.agreement(multirater.dataset_from_arrays(labels)).coefficients["value"]
    pixels = labels.transpose(1, 0, 2, 3).reshape(2, -1)
    expected = metrics.fleiss_kappa((pixels == 2).astype(int))
    assert found["Fleiss kappa", "class 2"] == pytest.approx(expected)
    assert ("mean Dice of pairs", "class 1") in found.index


def test_raters_who_share_no_case_are_not_paired():
    labels = np.zeros((2, 3, 4, 4), dtype=int)
    labels[:, :, 1] = 1
    labels[0, 2] = labels[1, 0] = -1
    pairs = multirater.agreement(multirater.dataset_from_arrays(labels)).pairs
    named = {tuple(row) for row in pairs[["rater a", "rater b"]].to_numpy()}
    assert named == {("rater 1", "rater 2"), ("rater 2", "rater 3")}


def test_class_labels_have_coefficients_but_no_overlap():
    import pandas as pd

    table = pd.DataFrame(
        [
            {"case": str(i), "rater": rater, "label": "ab"[(i + (rater == "y") * (i % 5 == 0)) % 2]}
            for i in range(30)
            for rater in "xy"
        ]
    )
    found = multirater.agreement(multirater.read_dataset(table)).coefficients["value"]
    assert found["percent agreement", "all"] == pytest.approx(0.8)
    assert not any("Dice" in measure for measure, _ in found.index)


def test_a_single_rater_is_refused():
    data = multirater.dataset_from_arrays(np.zeros((2, 1, 4, 4), dtype=int))
    with pytest.raises(InputError, match=r"1 rater of masks.*\n.*at least two"):
        multirater.agreement(data)


def test_chase_observers_agree_as_published(shared_data, tmp_path):
    from multirater.io.importers.files import import_files

    manifest = import_files(
        shared_data / "chase_db1", tmp_path, image="{case}.jpg", label="{case}_{rater}HO.png"
    )
    found = multirater.agreement(multirater.read_dataset(manifest), n_resamples=10, workers=2)
    assert round(found.coefficients["value"]["mean Dice of pairs", "all"], 3) == 0.777


def test_brain_growth_raters_agree_pairwise_as_stated(shared_data):
    arrays = np.load(shared_data / "qubiq_brain_growth" / "qubiq_brain_growth_39x7.npz")
    data = multirater.dataset_from_arrays(arrays["masks"].astype(int), images=arrays["images"])
    pairs = multirater.agreement(data, n_resamples=10).pairs["Dice"]
    assert round(pairs.min(), 2) == 0.82
    assert round(pairs.max(), 2) == 0.90


def test_pairs_of_empty_masks_are_counted_apart(masks):
    data = multirater.dataset_from_arrays(masks)
    with_empty = np.concatenate([masks, np.zeros((4, 3, 16, 16), dtype=int)])
    with_empty[6, 0, 3:5] = 1  # one rater sees something there
    before, after = (
        multirater.agreement(each) for each in (data, multirater.dataset_from_arrays(with_empty))
    )
    pairs = after.pairs.set_index(["rater a", "rater b"])
    assert pairs.loc[("rater 2", "rater 3"), "empty"] == 4
    assert pairs.loc[("rater 1", "rater 2"), "empty"] == 3
    same = before.pairs.set_index(["rater a", "rater b"])
    assert pairs.loc[("rater 2", "rater 3"), "Dice"] == same.loc[("rater 2", "rater 3"), "Dice"]
    assert "10 pairs" in after.notes[0]
    assert before.notes == ()


def test_two_raters_who_never_draw_have_no_dice():
    labels = np.zeros((3, 3, 6, 6), dtype=int)
    labels[:, 2, 1:3] = 1
    found = multirater.agreement(multirater.dataset_from_arrays(labels))
    pairs = found.pairs.set_index(["rater a", "rater b"])
    assert np.isnan(pairs.loc[("rater 1", "rater 2"), "Dice"])
    assert pairs.loc[("rater 1", "rater 3"), "Dice"] == 0


def test_many_raters_of_whom_some_are_missing_and_several_classes(rng, monkeypatch):
    """Raters come together by counts and by tables of pairs; both as if pixel by pixel."""
    masks = rng.integers(-1, 3, (3, 20, 6, 5))
    masks[1, 4:] = -1
    data = multirater.dataset_from_arrays(masks)
    found = multirater.agreement(data, n_resamples=3)
    pixels = masks.transpose(1, 0, 2, 3).reshape(20, -1)
    values = found.coefficients["value"]
    assert values["Fleiss kappa", "all"] == pytest.approx(metrics.fleiss_kappa(pixels))
    one = metrics.krippendorff_alpha(metrics.one_against_rest(pixels, 2))
    assert values["Krippendorff alpha (nominal)", "class 2"] == pytest.approx(one)
    kappa = metrics.pairwise_kappa(pixels)
    assert found.pairs["Cohen kappa"].tolist() == pytest.approx(
        kappa[np.triu_indices(20, k=1)].tolist()
    )
    monkeypatch.setattr("multirater.verbs.agreement._MOST_TOGETHER", 0)
    again = multirater.agreement(data, n_resamples=3)
    np.testing.assert_allclose(
        found.pairs.iloc[:, 2:].astype(float), again.pairs.iloc[:, 2:].astype(float)
    )


def test_the_interval_scale_is_of_the_numbers_that_classes_are_called(tmp_path):
    ratings = pd.DataFrame(
        [(f"t{n}", rater, value) for n, row in enumerate(RATED) for rater, value in row.items()],
        columns=["case", "rater", "label"],
    )
    ratings.to_csv(tmp_path / "a.csv", index=False)
    found = multirater.agreement(multirater.read_dataset(tmp_path / "a.csv"), scale="interval")
    table = np.array([[row["a"] for row in RATED], [row["b"] for row in RATED]], dtype=float)
    expected = krippendorff.alpha(reliability_data=table, level_of_measurement="interval")
    measured = found.coefficients["value"]["Krippendorff alpha (interval)", "all"]
    assert measured == pytest.approx(expected)
    assert not any("scale takes" in note for note in found.notes)


def test_names_in_no_known_order_are_told_on_a_scale(tmp_path):
    table = pd.DataFrame({"case": ["1"] * 2 + ["2"] * 2, "rater": ["a", "b"] * 2})
    table["label"] = ["low", "medium", "high", "low"]
    table.to_csv(tmp_path / "a.csv", index=False)
    data = multirater.read_dataset(tmp_path / "a.csv")
    (note,) = [
        each for each in multirater.agreement(data, scale="ordinal").notes if "scale" in each
    ]
    assert "high, low and medium" in note
    assert not any("scale" in each for each in multirater.agreement(data).notes)


def test_a_class_called_all_is_one_of_the_classes():
    said = np.random.default_rng(0).integers(0, 3, (30, 4))
    every, plain = (
        multirater.agreement(
            dataset_from_arrays(said, classes=Classes(tuple(map(LabelClass, names)))), n_resamples=9
        ).coefficients
        for names in (("all", "some", "none"), ("each", "some", "none"))
    )
    assert every.index.is_unique
    pd.testing.assert_frame_equal(every, plain.rename(index={"each": '"all"'}))
