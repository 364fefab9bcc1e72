"""Accuracies on forty chips of two networks, with and without training for such chips."""

import matplotlib.pyplot as plt
import numpy as np

import entrain
from entrain.data import Split
from entrain.hardware import preset
from entrain.plots.style import STYLE

test = entrain.load_test_split("mnist")
part = Split(test.features[:500], test.labels[:500])

plt.style.use(STYLE)
figure, axis = plt.subplots(figsize=(7, 3.2))
for name in ("mnist-74-robust", "mnist-74-direct"):
    result = entrain.yield_of(entrain.load(name), preset("typical"), part, chips=40)
    axis.hist(result.accuracies, bins=np.arange(0, 101, 2.5), alpha=0.8, label=name)
axis.set(xlabel="top-1 % on a chip of the hardware 'typical'", ylabel="chips")
axis.legend(loc="upper left")
figure.tight_layout()
figure.savefig("chips.png", dpi=150)
