import numpy as np
import eagle
from eagle.graph import opaque

x, y, z = np.zeros(8), np.zeros(8), np.zeros(8)

g = eagle.Graph()
g.add_node(opaque(lambda: np.multiply(x, 2.0, out=y), reads={"x": x}, writes={"y": y}),
           name="double")
g.add_node(opaque(lambda: np.add(y, 1.0, out=z), reads={"y": y}, writes={"z": z}),
           name="shift")
g.build()
g.launch()
