"""The bundled corpus: gold and three systems, made by `tools/demo`."""
