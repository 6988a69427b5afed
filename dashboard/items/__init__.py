"""Parts of the Items page: the worklist, deciding one item, audit samples, guideline problems."""
