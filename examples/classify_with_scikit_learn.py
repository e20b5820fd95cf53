"""Learn to classify from five raters who disagree, as any other scikit-learn classifier."""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from multirater import RaterClassifier
from multirater.simulate import pairwise_flipper_cm, simulate_class_labels

images, truth = load_digits(return_X_y=True)
X, X_test, truth, truth_test = train_test_split(images, truth, random_state=0)

cms = np.stack([pairwise_flipper_cm(10, 0.55, seed=seed) for seed in range(5)])
Y = simulate_class_labels(truth, cms, seed=0).T  # (n, 5), a column per rater
Y[np.random.default_rng(0).random(Y.shape) < 0.5] = -1  # -1, NaN or None: not labelled

model = RaterClassifier(epochs=30, learning_rate=3e-3, seed=0).fit(X, Y)
print("accuracy on new digits:", (model.predict(X_test) == truth_test).mean())
print("accuracy of the raters:", (truth[:, None] == Y)[Y >= 0].mean())
print("skill of each rater:", model.skill_.round(2))  # confusion_ is [rater, true, observed]
print(model.trust_["summary"])
