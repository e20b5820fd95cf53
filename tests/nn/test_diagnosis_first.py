import torch

from multirater.nn.diagnosis_first import DiagnosisNetwork, ExpertnessNetwork, fused_labels


def labels_of_three(n_cases=2, side=16):
    torch.manual_seed(0)
    return torch.randint(-1, 3, (n_cases, 3, side, side))


def test_equal_expertness_is_the_share_of_the_raters():
    labels = labels_of_three()
    fused = fused_labels(torch.zeros(2, 3, 4, 4), labels, 3)
    known = (labels != -1).sum(1)
    votes = torch.stack([(labels == each).sum(1) for each in range(3)], 1)
    assert torch.allclose(fused, votes / known.clamp(min=1)[:, None], atol=1e-6)
    assert (fused.sum(1)[known == 0] == 0).all()


def test_an_expert_is_followed_where_they_are_one():
    labels = labels_of_three().clamp(min=0)
    expertness = torch.zeros(2, 3, 4, 4)
    expertness[:, 0, :, :2], expertness[:, 2, :, 2:] = 40.0, 40.0
    fused = fused_labels(expertness, labels, 3).argmax(1)
    assert torch.equal(fused[..., :6], labels[:, 0, :, :6])
    assert torch.equal(fused[..., 10:], labels[:, 2, :, 10:])


def test_expertness_has_no_more_places_than_the_grid():
    torch.manual_seed(0)
    network = ExpertnessNetwork(1, 3, 3, ndim=2)
    found = network(torch.randn(2, 1, 32, 32), labels_of_three(side=32))
    assert found.shape == (2, 3, 4, 4)


def test_the_diagnosis_reaches_the_raters_weights():
    torch.manual_seed(0)
    expertness, diagnosis = ExpertnessNetwork(1, 3, 3, ndim=2), DiagnosisNetwork(1, 3, 2, ndim=2)
    image, labels = torch.randn(2, 1, 32, 32), labels_of_three(side=32)
    said = diagnosis(image, fused_labels(expertness(image, labels), labels, 3))
    torch.nn.functional.cross_entropy(said, torch.tensor([0, 1])).backward()
    for module in (expertness, diagnosis):
        assert all(each.grad.abs().sum() > 0 for each in module.parameters())


def test_an_image_is_seen_through_the_label_alone():
    torch.manual_seed(0)
    diagnosis = DiagnosisNetwork(1, 2, 2, ndim=3)
    image = torch.randn(1, 1, 8, 8, 8)
    nothing = torch.stack([torch.ones(1, 8, 8, 8), torch.zeros(1, 8, 8, 8)], 1)
    assert torch.equal(diagnosis(image, nothing), diagnosis(image * 5, nothing))
