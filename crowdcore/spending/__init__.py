"""What the next labels are worth, which to buy of whom, and which were not worth their price.

`value` says what further labels of an item would bring, `plan` spends a budget on them, `batch`
writes the files that a platform takes, and `past` counts labels that brought nothing.
"""
