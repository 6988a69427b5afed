"""What some methods leave beside truths: one class per file, without torch."""
