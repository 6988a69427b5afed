"""A run at a glance: one sentence, five numbers, and what to do next."""
