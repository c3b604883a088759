"""Reports: a result as people and programs read it."""
