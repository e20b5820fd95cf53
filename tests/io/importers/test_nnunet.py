"""nnU-Net's raw folders in their three ways of telling raters, and splits on the way out."""

import json

import numpy as np
import pytest
from PIL import Image as Pillow

from multirater.errors import InputError
from multirater.fusion.fused_dataset import fuse_dataset
from multirater.io import read_dataset, read_image
from multirater.io.exporters.exporting import export_dataset
from multirater.io.formats.labels import write_label
from multirater.io.importers.study import import_study
from multirater.nnunet import TRAINERS
from multirater.progress import show_progress
from multirater.types import Geometry, LabelMap


@pytest.fixture
def raw(tmp_path, photos, drawn_label):
    def written(folder, drawn, **described):
        root = tmp_path / folder
        root.mkdir(parents=True, exist_ok=True)
        photos(root / "imagesTr", "p1_0000.png", "p2_0000.png")
        for name, seed in drawn.items():
            label = LabelMap(drawn_label(seed), Geometry.default(2))
            write_label(label, root / f"{name}.png")
        told = {
            "channel_names": {"0": "grey"},
            "labels": {"background": 0, "lesion": 1, "vessel": 2},
            "numTraining": 2,
            "file_ending": ".png",
        }
        (root / "dataset.json").write_text(json.dumps(told | described))
        return root

    return written


@pytest.mark.parametrize("form", ["labelsTr_{}", "labelsTr/{}"])
def test_raters_by_folder(raw, tmp_path, read_labels, drawn_label, form):
    names = {f"{form.format('anna')}/p1": 1, f"{form.format('bert')}/p1": 2}
    import_study("nnunet", [raw("Dataset001_A", names)], tmp_path / "study")
    labels = read_labels(tmp_path / "study")
    assert set(labels) == {("p1", "anna"), ("p1", "bert")}
    np.testing.assert_array_equal(labels["p1", "bert"], drawn_label(2))
    data = read_dataset(tmp_path / "study")
    assert (len(data), data["p2"].split) == (2, "train")


def test_one_data_set_per_rater(raw, tmp_path, read_labels):
    sources = [raw("anna", {"labelsTr/p1": 1}), raw("bert", {"labelsTr/p1": 2})]
    import_study("nnunet", sources, tmp_path / "study")
    assert set(read_labels(tmp_path / "study")) == {("p1", "anna"), ("p1", "bert")}


def test_cases_of_one_number_and_other_images_are_not_joined(raw, tmp_path, photos):
    sources = [raw("anna", {"labelsTr/p1": 1}), raw("bert", {"labelsTr/p1": 2})]
    image = sources[1] / "imagesTr" / "p1_0000.png"
    pixels = np.asarray(Pillow.open(image))
    Pillow.fromarray(pixels).save(image, compress_level=0)
    import_study("nnunet", sources, tmp_path / "alike")
    Pillow.fromarray(255 - pixels).save(image)
    with pytest.raises(InputError, match=r"case p1, file .*bert.*: other images than those of"):
        import_study("nnunet", sources, tmp_path / "study")
    assert not (tmp_path / "study").exists()


def test_regions_and_other_versions_are_refused(raw, tmp_path):
    root = raw("Dataset001_A", {"labelsTr/p1": 1}, labels={"background": 0, "whole": [1, 2]})
    with pytest.raises(InputError, match="regions of several values"):
        import_study("nnunet", [root], tmp_path / "study")
    root = raw("Dataset002_A", {"labelsTr/p1": 1}, file_ending=None)
    with pytest.raises(InputError, match="lacks file_ending or labels"):
        import_study("nnunet", [root], tmp_path / "study")
    assert not (tmp_path / "study").exists()


def test_a_fusion_with_soft_files_and_splits(painted_study, tmp_path, read_labels):
    fused = tmp_path / "fused"
    fuse_dataset(read_dataset(painted_study), fused, method="mean", probability=True)
    out = export_dataset(read_dataset(fused), "nnunet", tmp_path / "Dataset001_Fused")
    soft = read_image(out / "softTr" / "ear_0001.nii.gz").array
    assert soft.max() == 0.5
    splits = json.loads((out / "splits_final.json").read_text())
    assert [fold["val"] for fold in splits] == [["ear"], ["eye"]]
    import_study("nnunet", [out], tmp_path / "again")
    before, after = read_labels(fused), read_labels(tmp_path / "again")
    np.testing.assert_array_equal(after["ear", "labelsTr"], before["ear", "mean"])


def test_stacks_of_several_raters_hold_what_each_said(painted_study, tmp_path, read_labels):
    out = export_dataset(read_dataset(painted_study), "nnunet", tmp_path / "Dataset001_Study")
    told = json.loads((out / "dataset.json").read_text())["multirater"]
    assert told["raters"] == ["anna", "bert"]
    patterns = np.array(told["patterns"])
    codes = read_image(out / "labelsTr" / "ear.png").array[0]
    labels = read_labels(painted_study)
    for number, rater in enumerate(told["raters"]):
        np.testing.assert_array_equal(patterns[codes][..., number], labels["ear", rater])
    eye = read_image(out / "labelsTr" / "eye.png").array[0]
    assert (patterns[eye][..., 1] == -1).all()


def test_gaps_of_a_rater_survive_a_stack(tmp_path, read_labels, photos):
    images = photos(tmp_path / "photos")
    (tmp_path / "manifest.csv").write_text(
        "case,image,rater,label,split\n"
        "ear,photos/ear.png,anna,anna.npy,train\near,photos/ear.png,bert,bert.npy,train\n"
        "eye,photos/eye.png,,,\n"
    )
    assert images.is_dir()
    drawn = np.zeros((24, 32), dtype=np.int16)
    drawn[3:9, 4:20] = 1
    np.save(tmp_path / "bert.npy", drawn)
    drawn[10:12] = -1
    np.save(tmp_path / "anna.npy", drawn)
    out = export_dataset(read_dataset(tmp_path / "manifest.csv"), "nnunet", tmp_path / "Dataset001")
    assert [path.name for path in (out / "imagesTs").iterdir()] == ["eye_0000.png"]
    import_study("nnunet", [out], tmp_path / "again")
    np.testing.assert_array_equal(read_labels(tmp_path / "again")["ear", "anna"], drawn)


def test_how_to_train_on_stacks_is_said(painted_study, tmp_path, capsys):
    show_progress(True)
    try:
        export_dataset(read_dataset(painted_study), "nnunet", tmp_path / "Dataset001_Study")
    finally:
        show_progress(False)
    assert "-tr nnUNetTrainerMultirater" in capsys.readouterr().err
    trainer = (TRAINERS / "multirater_trainer.py").read_text()
    assert "class nnUNetTrainerMultirater(nnUNetTrainer)" in trainer


def test_data_sets_of_one_name_are_no_two_raters(raw, tmp_path):
    sources = [raw(f"{who}/Dataset001", {"labelsTr/p1": 1}) for who in ("anna", "bert")]
    with pytest.raises(InputError, match="two files are called Dataset001"):
        import_study("nnunet", sources, tmp_path / "study")


def test_labels_without_an_image_are_named(raw, tmp_path):
    with pytest.raises(InputError, match="label without an image") as caught:
        import_study("nnunet", [raw("one", {"labelsTr/p9": 1})], tmp_path / "study")
    (fault,) = caught.value.faults
    assert (fault.case, fault.expected) == ("p9", "imagesTr/p9_0000.png")
