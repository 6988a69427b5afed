"""Settings of every test."""

from __future__ import annotations

import os

from hypothesis import settings

# The tests run side by side: a second torch thread would only take a core from the neighbour.
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["CROWDCORE_HOME"] = os.devnull  # no test may touch the user's own workspace

# The suite gives the same answer every time; `make torture` is what looks for new cases.
settings.register_profile("repeatable", derandomize=True, database=None)
settings.load_profile("repeatable")
