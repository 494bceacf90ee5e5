"""Whole databases, drawn exactly without listing them: columns, histograms, sorted lists."""
