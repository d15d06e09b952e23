g.add_group([left_plan, right_plan], names=["left", "right"])
