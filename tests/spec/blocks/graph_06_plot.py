fig = g.plot()                    # a matplotlib Figure
fig.savefig("graph.png")
