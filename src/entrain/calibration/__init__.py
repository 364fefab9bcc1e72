"""Estimates of a chip's parameters from measured phases, and networks trained for that chip.

- traces.py: measured phases, and experiments that make all parameters visible
- unknowns.py: the estimated parameters and their prior
- weak_form.py: least squares on increments of phases: exact for clean traces, and a start
- likelihood.py: maximum likelihood of the trajectories, through the adjoint
- calibrate.py: both in turn, with standard errors
- in_the_loop.py: training with the forward pass on the chip
"""

from entrain.calibration.calibrate import Calibration, calibrate
from entrain.calibration.in_the_loop import train_in_the_loop
from entrain.calibration.traces import Traces, plan, read_traces, simulated
from entrain.calibration.unknowns import Prior

__all__ = ["Calibration", "Prior", "Traces", "calibrate", "plan", "read_traces", "simulated"]
__all__ += ["train_in_the_loop"]
