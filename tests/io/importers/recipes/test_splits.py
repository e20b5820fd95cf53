from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from multirater.io.importers.recipes.splits import split_patients

PAPER = {"train": 722, "val": 144, "test": 144}


@given(
    n_patients=st.integers(1, 60),
    sizes=st.lists(st.integers(1, 9), min_size=1, max_size=4),
    seed=st.integers(0, 5),
)
def test_every_patient_is_in_one_split_and_splits_have_their_shares(n_patients, sizes, seed):
    shares = {f"split {number}": size for number, size in enumerate(sizes)}
    patients = [f"p{number}" for number in range(n_patients)]
    drawn = split_patients(patients, shares, seed=seed)
    assert sorted(drawn) == sorted(patients)
    counts = Counter(drawn.values())
    assert counts["split 0"] >= 1
    for name, size in shares.items():
        # Two rounded ends of a split, and one patient that the first split may take.
        assert abs(counts[name] - size / sum(sizes) * n_patients) <= 2


def test_the_numbers_of_the_paper():
    drawn = split_patients([f"p{number}" for number in range(1010)], PAPER, seed=0)
    assert Counter(drawn.values()) == PAPER


def test_order_and_repeats_do_not_matter_and_the_seed_does():
    patients = [f"p{number}" for number in range(20)]
    first = split_patients(patients, PAPER, seed=3)
    assert split_patients([*patients[::-1], "p4", "p4"], PAPER, seed=3) == first
    assert split_patients(patients, PAPER, seed=4) != first


def test_a_single_patient_is_for_training():
    assert split_patients(["p"], {"train": 1, "test": 9}, seed=0) == {"p": "train"}
