"""What a manager asks of ratings: truths, workers, agreement."""
