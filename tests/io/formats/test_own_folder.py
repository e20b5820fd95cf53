"""Files that a header may name."""

import pytest

from multirater.errors import InputError
from multirater.io.formats.own_folder import inside


def test_files_beside_and_below_are_taken(tmp_path):
    header = tmp_path / "a.mhd"
    for name in ("data.raw", "./data.raw", "below/data.raw", "below/../data.raw"):
        assert inside(header, name) == tmp_path / name


def test_files_elsewhere_and_links_to_them_are_refused(tmp_path):
    (tmp_path / "study").mkdir()
    (tmp_path / "study/link.raw").symlink_to(tmp_path / "secret.raw")
    for name in ("../secret.raw", "/etc/passwd", "link.raw", "below/../../secret.raw"):
        with pytest.raises(InputError, match="outside its folder"):
            inside(tmp_path / "study/a.mhd", name)
