"""Foreign errors become answers."""

import pytest

from multirater.errors import Fault, InputError
from multirater.io.formats.guard import cannot_hold, missing, reading, reason, writing


def test_a_foreign_error_is_named_with_file_and_kind():
    with pytest.raises(InputError) as error, reading("a.nii", "NIfTI"):
        raise RuntimeError("first line\nlast line of <_io.Thing object at 0x7f00>\n")
    fault = error.value.faults[0]
    assert fault.file == "a.nii"
    assert fault.found == "cannot be read as NIfTI: last line of"
    assert "NIfTI" in fault.expected
    assert fault.fix
    assert isinstance(error.value.__cause__, RuntimeError)


def test_missing_and_forbidden_files_are_told_apart():
    with pytest.raises(InputError, match="does not exist"), reading("a.nii", "NIfTI"):
        raise FileNotFoundError
    with pytest.raises(InputError, match="permission"), reading("a.nii", "NIfTI"):
        raise PermissionError


@pytest.mark.parametrize("guard", [lambda path: reading(path, "NIfTI"), writing])
def test_own_errors_only_get_the_file(guard):
    with pytest.raises(InputError) as error, guard("a.nii"):
        raise InputError(Fault("is wrong"))
    assert error.value.faults == (Fault("is wrong", file="a.nii"),)


@pytest.mark.parametrize("guard", [lambda path: reading(path, "NIfTI"), writing])
@pytest.mark.parametrize("passing", [MemoryError, KeyboardInterrupt])
def test_what_is_not_about_the_file_passes(guard, passing):
    with pytest.raises(passing), guard("a.nii"):
        raise passing


def test_writing_leaves_the_system_s_errors_to_the_mover():
    with pytest.raises(OSError, match="full"), writing("a.nii"):
        raise OSError(28, "full")
    with pytest.raises(InputError, match="encoder"), writing("a.nii"):
        raise OSError("encoder error")
    with pytest.raises(InputError, match="cannot be written: no"), writing("a.nii"):
        raise RuntimeError("no")


def test_words():
    assert reason(ValueError()) == "ValueError"
    assert len(reason(ValueError("x" * 999))) == 200
    assert cannot_hold("a volume", "PNG", (".tif",)).faults[0].fix.endswith(".tif")
    assert missing("x").faults[0].file == "x"
