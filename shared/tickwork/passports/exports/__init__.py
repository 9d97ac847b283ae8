"""Exports of passport versions as JSON-LD, XML and PDF: the same bytes for the same version and audience."""
