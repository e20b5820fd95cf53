import pytest

from multirater.errors import InputError
from multirater.io.results.unread import require_unread


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
