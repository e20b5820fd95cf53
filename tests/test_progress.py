import pytest

from multirater import progress


@pytest.fixture
def shown():
    progress.show_progress(True)
    yield
    progress.show_progress(False)


def test_silent_by_default(capsys):
    assert list(progress.track([1, 2], "counting", 2)) == [1, 2]
    progress.say("hello")
    assert capsys.readouterr() == ("", "")


def test_plain_lines_with_time_left_when_not_a_terminal(shown, capsys, monkeypatch):
    clock = iter(range(0, 1000, 3))
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    assert list(progress.track(range(4), "counting", 4)) == [0, 1, 2, 3]
    out, err = capsys.readouterr()
    assert out == ""
    assert "counting: 2 of 4, about 6 s left" in err


def test_time_left_does_not_count_what_comes_before_the_first(shown, capsys, monkeypatch):
    clock = iter([0, 100, 101, 102, 103])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    assert list(progress.track(range(4), "counting", 4)) == [0, 1, 2, 3]
    assert "counting: 2 of 4, about 2 s left" in capsys.readouterr().err


def test_a_bar_on_a_terminal(shown, capsys, monkeypatch):
    monkeypatch.setattr(progress.sys.stderr, "isatty", lambda: True, raising=False)
    assert list(progress.track(range(3), "counting", 3)) == [0, 1, 2]
    assert "counting" in capsys.readouterr().err
