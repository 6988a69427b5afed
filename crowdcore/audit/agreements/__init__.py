"""Measures of agreement side by side, for every kind of labels, with how they were computed."""
