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


def test_empty_folders_of_others_stay_and_are_named(tmp_path):
    folder = tmp_path / "out"
    (folder / "labels/none").mkdir(parents=True)
    (folder / "labels/a.png").touch()
    write_own_files(folder)
    assert files_of_others(folder) == []
    for name in ("mine", "labels/later/empty", "seen"):
        (folder / name).mkdir(parents=True)
    (folder / "seen/Thumbs.db").touch()
    assert files_of_others(folder) == ["labels/later/empty/", "mine/", "seen/Thumbs.db"]
    remove_own_files(folder)
    left = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))
    assert left == ["labels", "labels/later", "labels/later/empty", "mine", "seen"]


def test_a_folder_of_which_all_is_listed_is_removed_whole(tmp_path):
    folder = tmp_path / "out"
    (folder / "maps/of/none").mkdir(parents=True)
    (folder / "labels/deep").mkdir(parents=True)
    (folder / "labels/deep/a.png").touch()
    write_own_files(folder)
    remove_own_files(folder)
    assert not folder.exists()
