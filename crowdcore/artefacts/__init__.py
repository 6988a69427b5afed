"""What some methods leave behind beside truths: read from a result without torch, one a file."""
