"""Systems made from gold: errors of chosen kinds, at chosen rates, repeated by a seed."""
