"""Plots and reports of releases, mechanisms and ledgers."""
