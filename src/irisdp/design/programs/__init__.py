"""Goals as linear programs over all mechanisms, their solutions in short exact numbers, and the seal on them."""
