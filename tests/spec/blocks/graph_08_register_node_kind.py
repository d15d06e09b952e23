from eagle.graph import register_node_kind, Node

register_node_kind("my_kind", reads=..., writes=..., lower_gpu=..., lower_cpu=...)
g.add_node(Node("my_kind", payload), name="mine")
