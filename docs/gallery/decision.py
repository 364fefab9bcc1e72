"""Ten output oscillators decide on a handwritten digit."""

import matplotlib.pyplot as plt
import numpy as np

import entrain
from entrain.plots.style import STYLE

model = entrain.load("mnist-74-direct")
test = entrain.load_test_split("mnist")
phases = model.network.simulate(model.inputs(test.features[:1]), record=1).phases
outputs = phases[:, 0, -10:].cos().detach().numpy()  # (201, 10)

plt.style.use(STYLE)
figure, (left, right) = plt.subplots(1, 2, figsize=(7, 2.8), width_ratios=[1, 2.2])
left.imshow(test.features[0].reshape(28, 28), cmap="gray_r")
left.axis("off")
times = np.linspace(0, model.network.dynamics.observation_time, len(outputs))
for digit, line in enumerate(outputs.T):
    winner = digit == outputs[-1].argmax()
    right.plot(times, line, color=f"C{digit}", lw=3 if winner else 1, label=digit)
right.set(xlabel="time", ylabel="cos θ of the outputs")
right.legend(loc="center left", bbox_to_anchor=(1, 0.5), fontsize=8, frameon=False)
figure.tight_layout()
figure.savefig("decision.png", dpi=150)
