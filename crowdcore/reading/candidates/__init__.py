"""Readings of a file: complete ones, each with a score by stated rules and a reason in words."""
