"""Work on items that only a person can do: which to look at, how good all are, unclear classes.

`risk` says how likely each truth is wrong, `worklist` ranks items by it, `similar` finds items like
another one, `audit_sample` draws items that tell the accuracy without bias, and `guideline` finds
what even good workers differ on.
"""
