"""Numbers that the specification names here, though eagle-cpu decides them."""

from eagle.plugin.doors import door

__getattr__ = door(__name__, "eagle-cpu")
