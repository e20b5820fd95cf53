import torch

from multirater.nn.label_sampling import one_label_each


def test_every_label_is_drawn_as_often_as_any_other():
    torch.manual_seed(0)
    labels = torch.arange(4).reshape(1, 4, 1).expand(4000, 4, 1)
    chosen = one_label_each(labels)
    assert chosen.shape == (4000, 1, 1)
    assert torch.allclose(chosen.flatten().bincount() / 4000, torch.full((4,), 0.25), atol=0.03)


def test_raters_who_did_not_label_are_never_drawn():
    labels = torch.tensor([[[-1, -1], [1, -1], [-1, -1]]]).expand(50, 3, 2)
    assert (one_label_each(labels)[..., 0] == 1).all()


def test_a_case_that_nobody_labelled_stays_unlabelled():
    assert (one_label_each(torch.full((2, 3, 4), -1)) == -1).all()
