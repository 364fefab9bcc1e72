"""The couplings J of a trained network; hidden oscillators ordered by their strongest output."""

import matplotlib.pyplot as plt
import numpy as np

import entrain
from entrain.plots.style import STYLE

network = entrain.load("mnist-74-direct").network
couplings = network.couplings.detach().numpy()
strongest = np.abs(couplings[:64, 64:]).argmax(1)  # output with the largest coupling
order = [*np.argsort(strongest, kind="stable"), *range(64, 74)]
limit = np.abs(couplings).max()

plt.style.use(STYLE)
figure, axis = plt.subplots(figsize=(7, 4.6))
image = axis.imshow(couplings[np.ix_(order, order)], cmap="RdBu_r", vmin=-limit, vmax=limit)
axis.axhline(63.5, color="0.4", lw=0.8)
axis.axvline(63.5, color="0.4", lw=0.8)
axis.set(title="64 hidden, 10 outputs", xticks=[], yticks=[])
figure.colorbar(image, label="J")
figure.tight_layout()
figure.savefig("couplings.png", dpi=150)
