"""All 74 phases on the circle, at five times: hidden oscillators in grey, outputs in colour."""

import matplotlib.pyplot as plt

import entrain
from entrain.plots.style import STYLE

model = entrain.load("mnist-74-direct")
test = entrain.load_test_split("mnist")
run = model.network.simulate(model.inputs(test.features[:1]), record=1)
phases = run.phases[:, 0].detach().numpy()  # (201, 74)

plt.style.use(STYLE)
figure, axes = plt.subplots(1, 5, figsize=(7, 1.8), subplot_kw={"projection": "polar"})
for axis, step in zip(axes, (0, 20, 50, 100, 200), strict=True):
    axis.scatter(phases[step, :-10], [1] * 64, s=14, color="0.6")
    axis.scatter(phases[step, -10:], [0.72] * 10, s=26, c=[f"C{digit}" for digit in range(10)])
    axis.set(title=f"t = {step / 1000:g}", yticks=[], xticklabels=[], ylim=(0, 1.1))
figure.tight_layout()
figure.savefig("circle.png", dpi=150)
