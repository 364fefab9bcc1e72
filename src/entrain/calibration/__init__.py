"""What a device really does: its numbers from measured phases, and a network trained for it.

- traces.py: measured phases, and experiments that show what they should
- unknowns.py: what is estimated, and what is believed of it before
- weak_form.py: least squares on increments of phases: exact for clean traces, and a start
- likelihood.py: the trajectories themselves, through the adjoint
- calibrate.py: both, one after the other, and what they say of the device
- in_the_loop.py: training with the forward pass on the device
"""

from entrain.calibration.calibrate import Calibration, calibrate
from entrain.calibration.in_the_loop import train_in_the_loop
from entrain.calibration.traces import Traces, plan, read_traces, simulated
from entrain.calibration.unknowns import Prior

__all__ = [
    "Calibration",
    "Prior",
    "Traces",
    "calibrate",
    "plan",
    "read_traces",
    "simulated",
    "train_in_the_loop",
]
