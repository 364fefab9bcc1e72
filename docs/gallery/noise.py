"""Accuracy against temperature: a network of each protocol on 1,000 test images."""

import matplotlib.pyplot as plt

import entrain
from entrain.plots.style import STYLE

test = entrain.load_test_split("mnist")
images, labels = test.features[:1000], test.labels[:1000]
temperatures = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)

plt.style.use(STYLE)
figure, axis = plt.subplots(figsize=(7, 3.2))
for name in ("mnist-74-path", "mnist-74", "mnist-74-direct"):
    model = entrain.load(name)
    inputs, accuracies = model.inputs(images), []
    for temperature in temperatures:
        run = model.network.simulate(inputs, temperature=temperature, seed=1)
        predictions = run.readout.argmax(-1).numpy()
        accuracies.append(100 * (predictions == labels).mean())
    axis.semilogx(temperatures, accuracies, marker="o", label=name)
axis.set(xlabel="temperature kT", ylabel="top-1 %")
axis.legend()
figure.tight_layout()
figure.savefig("noise.png", dpi=150)
