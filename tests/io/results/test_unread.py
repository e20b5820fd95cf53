import numpy as np
import pytest

from multirater.errors import InputError
from multirater.io import dataset_from_arrays, read_dataset, write_dataset
from multirater.io.results.unread import require_unread, require_unread_cases


def test_what_is_read_is_not_written_over(tmp_path):
    """`next STUDY -o STUDY/manifest.csv --overwrite` would else cost the study."""
    study = tmp_path / "study"
    study.mkdir()
    for path in (study / "manifest.csv", study / "../study/classes.csv"):
        with pytest.raises(InputError, match="is what is read"):
            require_unread(path, [study])
    with pytest.raises(InputError, match="is what is read"):
        require_unread(tmp_path / "answers.csv", [study, tmp_path / "answers.csv"])
    require_unread(study / "next.csv", [study])


def test_files_of_cases_that_are_read_are_not_written_over(tmp_path):
    write_dataset(dataset_from_arrays(np.zeros((1, 2, 4, 4), dtype=int)), tmp_path / "study")
    dataset = read_dataset(tmp_path / "study")
    (label, *_) = dataset[0].labels.values()
    with pytest.raises(InputError, match="is what is read"):
        require_unread_cases(label.paths[0], dataset)
    require_unread_cases(tmp_path / "study/new.json", dataset)


def test_tables_of_other_results_are_not_written_over(tmp_path):
    (tmp_path / "config.json").touch()
    with pytest.raises(InputError, match="a table or statement"):
        require_unread(tmp_path / "config.json", [])
    require_unread(tmp_path / "raters.csv", [])
