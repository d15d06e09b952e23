def fetch(key): return None
def keep(key, binary): pass
def key_of(kernel, shape, which): return ""
