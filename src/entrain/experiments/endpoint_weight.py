"""How much the weight of the endpoint loss matters, on MNIST at the auxiliary rate."""

from __future__ import annotations

from entrain.experiments import auxiliary
from entrain.experiments.setting import AUXILIARY_RATE, MNIST, Setting
from entrain.experiments.spec import Experiment, Lab, Values
from entrain.learning import StudentStage

WEIGHTS = (0.1, 1.0, 10.0)


def weighted(setting: Setting) -> StudentStage:
    """The nonzero weights side by side, all from PATH's run 0 in the same order."""
    path = setting.principal(MNIST)
    runs = (0,) * len(WEIGHTS)
    return setting.go_on(path, runs=runs, rate=AUXILIARY_RATE, weights=WEIGHTS)


def measure(lab: Lab) -> Values:
    """Test metrics by weight; weight 0 is PATH-CONT."""
    control = lab.test(MNIST, auxiliary.branch(lab.setting, MNIST, "PATH-CONT"))[0]
    others = lab.test(MNIST, weighted(lab.setting))
    rows = [{"endpoint_weight": 0.0, **control}]
    rows += [{"endpoint_weight": w, **found} for w, found in zip(WEIGHTS, others, strict=True)]
    return {"dataset": MNIST, "rows": rows}


EXPERIMENT = Experiment(
    "endpoint-weight",
    "Endpoint-weight sensitivity on MNIST",
    "tab:endpoint_weight_sensitivity",
    lambda setting: [auxiliary.branch(setting, MNIST, "PATH-CONT"), weighted(setting)],
    measure,
)
