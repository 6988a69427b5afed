"""Simulated crowds, one module for each kind of labels."""
