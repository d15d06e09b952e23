total = np.zeros(1)
g.add_node(eagle.reduce(energy, total), name="total")
