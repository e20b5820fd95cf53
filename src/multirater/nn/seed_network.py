"""What networks share that learn from seeds: a class where something is drawn, nothing elsewhere.

Masks of raters, and held-out seeds, are compared with the truth as they are. How seeds are learned
from is each method's own.
"""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor, nn

from multirater.nn.coarse import RaterKind
from multirater.nn.losses import plain_nll
from multirater.nn.rater_network import Labelled, Outputs, RaterLoss, TruthNetwork


class SeedNetwork(TruthNetwork):
    """Backbone and truth head.

    Args:
        backbone: maps images (B, channels, *space) to features (B, n_features, *space).
        n_features: channels of the feature map.
        n_classes: classes, background included.
        ndim: 2 or 3.
        kinds: of what each rater of the data set gives, by position.
    """

    def __init__(
        self,
        backbone: nn.Module,
        *,
        n_features: int,
        n_classes: int,
        ndim: int,
        kinds: Sequence[RaterKind],
    ) -> None:
        super().__init__(backbone, n_features=n_features, n_classes=n_classes, ndim=ndim)
        self.n_classes, self.kinds = n_classes, tuple(kinds)

    def features(self, image: Tensor) -> Tensor:
        """Return the image, which seeds may be compared with."""
        return image

    def loss(self, features: Tensor, labelled: Labelled) -> RaterLoss:
        """Return the loss of masks, or of seeds, from the images."""
        own = self.backbone(features)
        if self.training and any(self.kinds[int(r)] != "mask" for r in labelled.raters):
            return self.loss_of_seeds(features, own, labelled)
        nll = plain_nll(self.log_truth(own), labelled.labels, labelled.class_weight)
        return RaterLoss(nll, nll.new_zeros(()))

    def loss_of_seeds(self, image: Tensor, features: Tensor, labelled: Labelled) -> RaterLoss:
        """Return the loss of seeds (G, 1, *space), -1 where nothing is drawn.

        Args:
            image: (G, channels, *space).
            features: of the backbone, (G, n_features, *space).
            labelled: the seeds.
        """
        raise NotImplementedError

    def outputs(self, image: Tensor, raters: Sequence[int] = ()) -> Outputs:
        """Predict the truth; nothing is known of raters."""
        return Outputs(self.log_truth(self.backbone(image)).exp())
