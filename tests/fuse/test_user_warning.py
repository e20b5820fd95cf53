import warnings

import numpy as np
import pytest

from multirater import fuse
from multirater.errors import MultiraterWarning
from multirater.fuse.methods import method_named
from multirater.fuse.user_warning import warn_user


def test_a_warning_names_the_line_of_the_caller():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_user("look here")
    assert [str(each.message) for each in caught] == ["look here"]
    assert caught[0].category is MultiraterWarning
    assert caught[0].filename == __file__


def test_methods_say_doubts_in_the_result_and_warn_users_only():
    rows, columns = np.indices((80, 80))
    distance = np.hypot(rows - 40, columns - 40)
    nested = np.stack([distance < radius for radius in (8, 14, 20, 30)]).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("error", MultiraterWarning)
        result = method_named("staple")(nested)
    assert [each.code for each in result.findings if each.level == "problem"] == ["follows"]
    with pytest.warns(MultiraterWarning, match="follows rater 2"):
        fuse.staple(nested)
