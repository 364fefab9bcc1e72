"""Output oscillators of the paper's network deciding on ten handwritten digits."""

import numpy as np

import entrain

model = entrain.load("mnist-74")
test = entrain.load_test_split("mnist").rows(slice(300))
right = model.predict(test.features) == test.labels
rows = [int(np.flatnonzero(right & (test.labels == digit))[0]) for digit in range(10)]

figure = entrain.plots.trajectory(model, test.features[rows], test.labels[rows])
figure.savefig("ten_digits.png", dpi=150)
