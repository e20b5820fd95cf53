import numpy as np
import pytest
import torch

from trace_bias import penalised, predicted, trained


@pytest.mark.parametrize("weight", [0.0, 0.01, 0.1, 0.5])
def test_the_closed_form_is_what_descent_finds(weight):
    rater = np.array([[0.4, 0.5, 0.1], [0.2, 0.7, 0.1], [0.3, 0.3, 0.4]])
    logits = torch.zeros(3, 3, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.LBFGS(
        [logits], max_iter=200, tolerance_grad=1e-10, tolerance_change=1e-14
    )

    def closure():
        optimizer.zero_grad()
        log = logits.log_softmax(1)
        loss = -(torch.as_tensor(rater) * log).sum() / 3 + weight * log.exp().trace()
        loss.backward()
        return loss

    for _ in range(5):
        optimizer.step(closure)
    np.testing.assert_allclose(
        logits.softmax(1).detach(), penalised(rater, weight, 1 / 3), atol=1e-5
    )


def test_rows_still_sum_to_one():
    rater = np.array([[0.9, 0.1], [0.4, 0.6]])
    np.testing.assert_allclose(penalised(rater, 0.3, 0.5).sum(1), 1)


def test_the_lead_is_lost_at_a_tenth_and_with_it_the_classes():
    table = predicted().join(trained())
    lead = table["smallest lead, closed form"]
    assert lead.is_monotonic_decreasing
    assert lead.loc[0.1] < -0.2 < lead.loc[0.01]
    assert (table.loc[0.1, ["right, %, one", "right, %, dense"]] < 50).all()
