import torch
from torch import nn

from multirater.nn.local_to_global import LocalToGlobalNetwork, attention, random_view
from multirater.nn.rater_network import Labelled


def test_views_are_parts_of_the_image():
    torch.manual_seed(0)
    corners = set()
    for _ in range(40):
        view = random_view((9, 6))
        assert torch.zeros(2, 1, 9, 6)[view].shape == (2, 1, 5, 3)
        corners.add((view[2].start, view[3].start))
    assert len(corners) > 10


def test_attention_is_the_share_of_the_highest_where_a_class_may_be():
    maps = torch.tensor([[[4.0, 2.0, -1.0, 4.0], [1.0, 3.0, 1.0, 1.0]]])
    inside = torch.tensor([[1, 1, 1, 0]])
    found = attention(maps, torch.tensor([[1.0, 0.0]]), inside)[0]
    assert torch.allclose(found[1], torch.tensor([1.0, 0.5, 0.0, 0.0]))
    assert torch.equal(found[2], torch.zeros(4))  # is not in the view
    assert torch.allclose(found.sum(0), torch.ones(4))
    both = attention(maps, torch.ones(1, 2), inside)[0]
    assert torch.allclose(both[1:, 1], torch.tensor([0.0, 1.0]))  # the highest counts alone


def test_of_boxes_the_object_is_learned():
    """Half of each box is bright; elsewhere nothing is."""
    torch.manual_seed(0)
    sizes = {"n_features": 4, "n_classes": 2, "ndim": 2, "kinds": ["positive"]}
    net = LocalToGlobalNetwork(nn.Conv2d(1, 4, 1), nn.Conv2d(1, 4, 1), **sizes)
    image, boxes = torch.zeros(8, 1, 16, 16), torch.zeros(8, 1, 16, 16, dtype=torch.int64)
    for case in range(8):
        row, column = torch.randint(0, 10, (2,)).tolist()
        boxes[case, 0, row : row + 6, column : column + 6] = 1
        image[case, 0, row : row + 6 : 2, column : column + 6] = 1.0
    labelled = Labelled(boxes, [0], torch.empty(0), None, True, "marginal")
    optimizer = torch.optim.Adam(net.parameters(), lr=3e-2)
    for _ in range(150):
        optimizer.zero_grad()
        loss = net.loss(image, labelled)
        (loss.nll + loss.truth).backward()
        optimizer.step()
    found = net.outputs(image).truth.argmax(1, keepdim=True)
    assert torch.equal(found, image.long())
    assert not torch.equal(found, boxes)
