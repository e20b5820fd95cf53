import gzip
import struct

import numpy as np
import pytest

from multirater.errors import InputError
from multirater.io import read_dataset, survey
from multirater.io.importers.recipes import import_mnist
from multirater.samples import load_digits
from multirater.simulate import simulate_dataset

SIZES = {"train": 6, "test": 3}
PREFIX = {"train": "train", "test": "t10k"}


def write_idx(path, array):
    header = struct.pack(f">BBBB{array.ndim}I", 0, 0, 8, array.ndim, *array.shape)
    content = header + array.astype(np.uint8).tobytes()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)


def write_mnist(folder, *, mark="-", gz=""):
    """The first digits of MNIST under the names of its files."""
    folder.mkdir()
    for split, size in SIZES.items():
        digits = load_digits(split)
        name = PREFIX[split]
        write_idx(folder / f"{name}-images{mark}idx3-ubyte{gz}", digits.images[:size])
        write_idx(folder / f"{name}-labels{mark}idx1-ubyte{gz}", digits.classes[:size])
    return folder


@pytest.fixture
def mnist(tmp_path):
    return write_mnist(tmp_path / "mnist")


@pytest.mark.parametrize(("mark", "gz"), [("-", ""), ("-", ".gz"), (".", "")])
def test_digits_with_the_masks_of_the_built_in_sample(tmp_path, mark, gz):
    source = write_mnist(tmp_path / "mnist", mark=mark, gz=gz)
    manifest = import_mnist(source, tmp_path / "data")
    assert manifest == tmp_path / "data" / "manifest.csv"
    data = read_dataset(manifest)
    assert [case.name for case in data.split("test")] == ["test-0", "test-1", "test-2"]
    assert (data.raters, data.classes.names) == ((), ("background", "digit"))
    for split, size in SIZES.items():
        digits = load_digits(split)
        cases = data.split(split)
        assert len(cases) == size
        images = np.concatenate([case.read_image().array for case in cases])
        masks = np.stack([case.read_truth().array for case in cases])
        assert (images == digits.images[:size]).all()
        assert (masks == digits.masks[:size]).all()
    survey(data)


def test_which_digit_it_is(mnist, tmp_path):
    data = read_dataset(import_mnist(mnist, tmp_path / "data", kind="classes"))
    assert data.kind == "classes"
    assert data.classes.names == tuple("0123456789")
    truth = [int(case.read_truth().array) for case in data.split("train")]
    assert truth == load_digits("train").classes[:6].tolist()


def test_raters_can_be_simulated(mnist, tmp_path):
    data = read_dataset(import_mnist(mnist, tmp_path / "data"))
    assert len(simulate_dataset(data, seed=0).raters) == 5


def test_the_first_digits_only(mnist, tmp_path):
    data = read_dataset(import_mnist(mnist, tmp_path / "data", n_train=2, n_test=0))
    assert [case.name for case in data] == ["train-0", "train-1"]


def test_masks_do_not_need_the_class_labels(mnist, tmp_path):
    for file in mnist.glob("*labels*"):
        file.unlink()
    assert len(read_dataset(import_mnist(mnist, tmp_path / "data"))) == 9


def test_everything_wrong_is_told_together_and_nothing_is_written(mnist, tmp_path):
    (mnist / "train-images-idx3-ubyte").unlink()
    cut = (mnist / "t10k-images-idx3-ubyte").read_bytes()[:-1]
    (mnist / "t10k-images-idx3-ubyte").write_bytes(cut)
    write_idx(mnist / "t10k-labels-idx1-ubyte", np.array([1, 2]))
    with pytest.raises(InputError) as caught:
        import_mnist(mnist, tmp_path / "data", kind="classes")
    said = [(fault.file.rsplit("/", 1)[-1], fault.found) for fault in caught.value.faults]
    assert said == [
        ("train-images-idx3-ubyte", "does not exist"),
        ("t10k-images-idx3-ubyte", "holds 2351 values"),
    ]
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("labels", [[1, 2], [1, 2, 10]])
def test_labels_that_do_not_fit_the_images(mnist, tmp_path, labels):
    write_idx(mnist / "t10k-labels-idx1-ubyte", np.array(labels))
    with pytest.raises(InputError, match="3 labels from 0 to 9, one per image"):
        import_mnist(mnist, tmp_path / "data", kind="classes")


@pytest.mark.parametrize("wanted", [-1, 7])
def test_more_digits_than_there_are(mnist, tmp_path, wanted):
    with pytest.raises(InputError, match=rf"asks for {wanted} digits to train(.|\n)*0 to 6"):
        import_mnist(mnist, tmp_path / "data", n_train=wanted)


def test_a_source_that_is_not_there(tmp_path):
    with pytest.raises(InputError, match="does not exist"):
        import_mnist(tmp_path / "nowhere", tmp_path / "data")


def test_an_earlier_import_is_replaced_only_when_asked(mnist, tmp_path):
    import_mnist(mnist, tmp_path / "data")
    with pytest.raises(InputError, match="already exists"):
        import_mnist(mnist, tmp_path / "data", n_train=1)
    import_mnist(mnist, tmp_path / "data", n_train=1, overwrite=True)
    assert len(read_dataset(tmp_path / "data")) == 4
