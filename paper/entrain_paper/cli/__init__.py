"""The commands that this package adds to `entrain`, by entry points."""
