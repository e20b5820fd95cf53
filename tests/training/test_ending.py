import signal

import pytest

from multirater.training.ending import ends_when_told


@pytest.fixture
def ignored():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ignored")
def test_what_is_ignored_stays_ignored():
    with ends_when_told(lambda: None):
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
        signal.raise_signal(signal.SIGINT)


def test_what_is_heard_ends_the_run_and_handlers_come_back():
    before = [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)]
    with pytest.raises(SystemExit) as caught, ends_when_told(lambda: None):
        signal.raise_signal(signal.SIGTERM)
    assert caught.value.code == 143
    assert [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)] == before
