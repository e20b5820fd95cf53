"""What the words on the page mean, a line each; only those that are on it are explained."""

from __future__ import annotations

from collections.abc import Iterable

TERMS: dict[str, str] = {
    "quality": "agreement with the consensus of the other raters: Dice of drawings, share of equal "
    "answers of class labels; 1 is best",
    "rank": "place among the raters; those of the same rank are level: none of them is clearly "
    "better than another",
    "Dice": "overlap of two drawings: twice what they share, over what both hold; 1 is the same "
    "drawing, 0 no pixel in common. Two empty drawings are counted apart, in no mean",
    "IoU": "overlap of two drawings: what they share, over what either holds; always below Dice",
    "mIoU": "IoU averaged over all classes, the background too",
    "accuracy": "share of the labels that are right",
    "sensitivity": "share of what is there that was drawn",
    "specificity": "share of what is not there that was left alone",
    "recall": "share of a class that was called so",
    "over or under": "how far outside (over) or inside (under) the reference outlines run",
    "interval": "a range that holds the true value 95 times in 100; it comes from drawing the "
    "cases again",
    "Cohen kappa": "agreement of two raters beyond what chance gives; 1 is full agreement, 0 what "
    "guessing would give",
    "percent agreement": "share of the labels on which two raters agree",
    "fusion": "one label made of those of all raters",
    "majority vote": "the label that most raters gave",
    "reference": "what raters are compared with: the truth where it is known, else a fusion or the "
    "majority vote",
    "network": "a model that was trained on the raters' labels and labels images by itself",
    "energy distance (Dice)": "how far the spread of what a network expects raters to draw is from "
    "the spread of what they drew; 0 is the same",
    "CM RMSE": "how far the mistakes that a network expects of each rater are from those they "
    "make; 0 is the same",
    "global CM RMSE": "the same with one set of mistakes per rater for all pixels",
    "consensus": "how far the raters of a case agree: mean IoU of every two of them",
    "consensus Pearson": "whether a network knows on which cases raters disagree: correlation of "
    "predicted and real consensus, 1 is best",
    "soft Dice": "Dice of probabilities, averaged over thresholds",
    "soft Dice with mean of raters": "Dice of the probabilities with the share of raters who drew "
    "a pixel, averaged over thresholds",
    "Dice with majority vote": "overlap with what most raters drew",
    "accuracy with majority vote": "share of cases that are labelled as most raters did",
    "Dice with raters": "overlap with each rater's drawing, in the mean",
    "behind the best": "how far a method is behind the best of its kind on the same cases, with an "
    "interval; level where that holds 0",
    "disagreement": "of a case: one minus the mean Dice of every two raters, or the share of pairs "
    "who chose different classes",
    "entropy": "how unsure a network is of a pixel: 0 sure, 1 no idea",
    "loss": "how surprised a network is by labels (nats per label); lower is better",
    "recurrence": "a round in which a method corrects itself",
    "bias": "how much more one draws than the other, in the mean",
}
"""By term, in the order of the page."""


def explained(terms: Iterable[str]) -> list[tuple[str, str]]:
    """Return the terms that have a line, each once, in the order of `TERMS`.

    Example:
        >>> [term for term, _ in explained(["IoU", "Dice", "Dice", "anna"])]
        ['Dice', 'IoU']
    """
    wanted = set(terms)
    return [(term, line) for term, line in TERMS.items() if term in wanted]
