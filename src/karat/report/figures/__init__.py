"""Figures for papers: SVG, PNG or PDF in one style, with their data as CSV."""
