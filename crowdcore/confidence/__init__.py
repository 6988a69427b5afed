"""How sure to be, as far as other crowds can tell.

`mapping` turns a method's probabilities into shares of right answers as they were among simulated
crowds; `accuracy` estimates how many truths are right, with an interval that gold narrows.
"""
