"""Networks and classifiers that learn from features of items, or from words."""
