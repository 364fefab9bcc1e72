"""Trained networks as circuits: SPICE netlists, a core in Verilog, and what runs and compares them.

- design.py: what a circuit has to compute
- spice.py: how a netlist is built
- phase_netlist.py, lc_netlist.py, netlists.py: the equations, or LC oscillators; their files
- components.py: the components of those, with the tolerances of one chip
- fixed_point.py: the network in whole numbers
- verilog.py: the core that computes them, its memories and testbench
- front.py, onnx_graph.py: input weights, and everything as an ONNX graph
- plain.py: JSON and NumPy, for everybody else
- folder.py: an export on disk
- simulators.py, ngspice.py, digital.py: what runs it
- verify.py: the simulator beside Python
"""

from entrain.export.design import Design, design_of
from entrain.export.fixed_point import FixedPoint, WordLengths, fixed_point
from entrain.export.folder import read_export, write_export
from entrain.export.onnx_graph import Onnx
from entrain.export.plain import Plain
from entrain.export.spice import Spice
from entrain.export.verify import Verification, verify

__all__ = [
    "Design",
    "FixedPoint",
    "Onnx",
    "Plain",
    "Spice",
    "Verification",
    "WordLengths",
    "design_of",
    "fixed_point",
    "read_export",
    "verify",
    "write_export",
]
