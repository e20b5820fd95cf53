import numpy as np
import pandas as pd

import multirater
from multirater.cli.rater_rows import rater_rows
from multirater.fusion.fused_dataset import fuse_dataset


def test_fuse_and_info_say_the_same_of_raters(tmp_path):
    random = np.random.default_rng(0)
    truth = np.zeros((8, 1, 24, 24), dtype=int)
    truth[:, :, 6:16, 6:18] = 1
    chances = [0.01, 0.05, 0.05, 0.3]
    drawn = np.concatenate([truth ^ (random.random(truth.shape) < c) for c in chances], axis=1)
    data = multirater.dataset_from_arrays(drawn)
    told = rater_rows(multirater.info(data).raters)
    fused = rater_rows(fuse_dataset(data, tmp_path / "fused").raters)
    assert told.index.tolist() == fused.index.tolist()
    assert told["quality"].tolist() == fused["quality"].tolist()
    assert told["rank"].tolist() == fused["rank"].tolist()
    assert told.index[-1] == "rater 4"
    assert "[" in told["quality"].iloc[0]


def test_equal_ranks_are_level_and_unknown_ones_a_dash():
    table = pd.DataFrame(
        {
            "quality": [0.5, 0.9, 0.9, np.nan],
            "quality_low": [0.4, 0.8, 0.8, np.nan],
            "quality_high": [0.6, 1.0, 1.0, np.nan],
            "rank": pd.array([3, 1, 1, pd.NA], dtype="Int64"),
            "cm[a,a]": [1.0] * 4,
        },
        index=pd.Index(list("abcd"), name="rater"),
    )
    shown = rater_rows(table)
    assert shown.index.tolist() == ["b", "c", "a", "d"]
    assert shown["rank"].tolist() == ["1 (level)", "1 (level)", "3", "-"]
    assert shown["quality"].tolist()[2:] == ["0.500 [0.400, 0.600]", "-"]
    assert list(shown) == ["rank", "quality"]
