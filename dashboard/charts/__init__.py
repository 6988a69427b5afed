"""Pure functions from numbers to Plotly figures; a figure never changes what it is given."""
