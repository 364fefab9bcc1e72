"""The paper reproduced, and every system it compares with, measured on one protocol.

Y. Cheng and Z. Lin, A Constrained Kuramoto Gradient-Flow System Can Perform High-Accuracy
Finite-Time Inference. This package adds the commands `reproduce`, `report`, `bakeoff` and `bench`
to the command line of Entrain.
"""

__version__ = "0.2.0"
