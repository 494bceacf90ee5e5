"""The provably best private answer to a question with finitely many answers."""
