"""Studies: measures examined in the laboratory (`karat lab`), papers recomputed (`karat reproduce`)."""
