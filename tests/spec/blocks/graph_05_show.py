g.show()          # or print(g), or str(g)
