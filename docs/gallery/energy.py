"""The energy along the trajectories of 100 test images."""

import matplotlib.pyplot as plt
import numpy as np

import entrain
from entrain.plots.style import STYLE

model = entrain.load("mnist-74")
test = entrain.load_test_split("mnist")
inputs = model.inputs(test.features[:100])
phases = model.network.simulate(inputs, record=1).phases
energy = model.network.energy(phases, inputs).detach().numpy()  # (201, 100)
right = model.predict(test.features[:100]) == test.labels[:100]

times = np.linspace(0, model.network.dynamics.observation_time, len(energy))
plt.style.use(STYLE)
figure, axis = plt.subplots(figsize=(7, 3.2))
axis.plot(times, energy[:, right], color="C0", lw=0.6, alpha=0.5)
axis.plot(times, energy[:, ~right], color="C3", lw=1.4)
axis.set(xlabel="time", ylabel="energy E", title="wrong predictions in orange")
figure.tight_layout()
figure.savefig("energy.png", dpi=150)
