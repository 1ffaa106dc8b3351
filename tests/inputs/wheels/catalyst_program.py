"""Compile a quantum circuit: a context here is made before the compiler, a child, makes its own."""

import pennylane as qml
from catalyst import qjit


@qjit
@qml.qnode(qml.device("lightning.qubit", wires=2))
def circuit(x: float):
    qml.RX(x, wires=0)
    qml.CNOT(wires=[0, 1])
    return qml.expval(qml.PauliZ(1))


print(circuit(0.5))
