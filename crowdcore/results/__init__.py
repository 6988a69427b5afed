"""What a fit leaves, one class for each kind of labels."""
