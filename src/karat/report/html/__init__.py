"""The HTML report, and everything else that is HTML."""
