"""Tables: what measures count, each described by a `karat.plugin.TableSpec` that says how it is made and added up."""
