"""What measures rows side by side; what is measured stands in `rows/`, and `run.py` starts it."""
