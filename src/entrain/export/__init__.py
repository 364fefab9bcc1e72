"""Networks and Ising machines as circuits: SPICE, Verilog, ONNX graphs and plain numbers.

- targets.py: export formats and their options
- design.py: the network and the test images of an export; input_stage.py: its input weights
- machine.py: the problem of an Ising machine, and the ramp of its injection
- netlists.py, lc_netlist.py: netlists of the equations, and of LC oscillators
- netlist_parts.py: lines that both have
- components.py: the components of LC oscillators, with the tolerances of one chip
- fixed_point.py: the network in integers
- verilog.py: the core that computes them, its memories and testbench
- onnx_graph.py, plain.py: an ONNX graph; JSON and NumPy
- folder.py: an export on disk
- simulators.py, ngspice.py, digital.py: external programs
- verify.py: comparison of a simulator with Python
"""

from entrain.export.design import Design, design_of, design_of_problem
from entrain.export.fixed_point import FixedPoint, fixed_point
from entrain.export.folder import read_export, write_export
from entrain.export.targets import Onnx, Plain, Spice, WordLengths
from entrain.export.verify import Verification, verify

__all__ = ["Design", "FixedPoint", "Onnx", "Plain", "Spice", "Verification", "WordLengths"]
__all__ += [
    "design_of",
    "design_of_problem",
    "fixed_point",
    "read_export",
    "verify",
    "write_export",
]
