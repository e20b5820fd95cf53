from multirater.io.own_files import (
    FILE_NAME,
    files_of_others,
    is_listed,
    remove_own_files,
    write_own_files,
)


def test_only_what_was_listed_is_removed(tmp_path):
    folder = tmp_path / "out"
    (folder / "labels").mkdir(parents=True)
    (folder / "labels/a.png").touch()
    (folder / "raters.csv").touch()
    assert not is_listed(folder)
    assert files_of_others(folder) == ["labels/a.png", "raters.csv"]
    write_own_files(folder)
    assert files_of_others(folder) == []
    (folder / "labels/mine.png").touch()
    (folder / "Thumbs.db").touch()
    assert files_of_others(folder) == ["labels/mine.png"]
    remove_own_files(folder)
    assert [path.name for path in folder.rglob("*")] == ["labels", "mine.png"]


def test_a_list_of_somebody_else_reaches_nothing_outside(tmp_path):
    folder = tmp_path / "out"
    folder.mkdir()
    (tmp_path / "mine.txt").touch()
    (folder / "link").symlink_to(tmp_path)
    (folder / FILE_NAME).write_text(f"../mine.txt\n{tmp_path}/mine.txt\nlink/mine.txt\n\n")
    remove_own_files(folder)
    assert (tmp_path / "mine.txt").exists()
    assert [path.name for path in folder.iterdir()] == ["link"]
