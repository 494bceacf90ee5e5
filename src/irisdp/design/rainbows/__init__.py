"""Any number of ranked answers on any graph: boundaries, depth, and what follows from them."""
