"""Tagged texts: chains of tags, valid tags, and taggers that learn from words."""
