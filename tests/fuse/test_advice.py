import warnings

from multirater.errors import MultiraterWarning
from multirater.fuse.advice import warn_user


def test_a_warning_names_the_line_of_the_caller():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_user("look here")
    assert [str(each.message) for each in caught] == ["look here"]
    assert caught[0].category is MultiraterWarning
    assert caught[0].filename == __file__
