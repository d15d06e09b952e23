guard = eagle.SkipGuard.nonzero(flag)
g.add_node(eagle.skippable(opaque(refine, reads={"x": x}, writes={"x": x}), guard),
           name="refine")
