import pytest

from multirater.errors import InputError
from multirater.io.results.origin import FILE_NAME, read_origin, write_origin


def test_results_and_data_can_be_moved_together(tmp_path):
    before = tmp_path / "before"
    write_origin(before / "out" / "predicted", before / "study", run=before / "out" / "run")
    after = before.rename(tmp_path / "after")
    found = read_origin(after / "out" / "predicted")
    assert found["data"].resolve() == (after / "study").resolve()
    assert found["run"].resolve() == (after / "out" / "run").resolve()


def test_a_data_set_in_memory_leaves_no_note(tmp_path):
    write_origin(tmp_path, None)
    assert read_origin(tmp_path) == {}
    assert not (tmp_path / FILE_NAME).exists()


@pytest.mark.parametrize("text", ["[1, 2]", "{"])
def test_a_broken_note_is_named(tmp_path, text):
    (tmp_path / FILE_NAME).write_text(text)
    with pytest.raises(InputError, match="cannot be read"):
        read_origin(tmp_path)
