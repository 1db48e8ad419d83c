"""The paper's algorithms in plain NumPy, line by line: what the kernels are tested against."""
