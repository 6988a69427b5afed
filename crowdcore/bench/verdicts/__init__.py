"""How far verdicts on workers can be trusted: on simulated crowds, and on real ones with gold."""
