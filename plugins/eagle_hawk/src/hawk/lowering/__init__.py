"""From the source of a kernel to the IR: names and types are followed, nothing runs on real values."""
