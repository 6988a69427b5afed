"""`crowdcore bench`: accuracy against known truths, speed beside peers, published tables."""
