"""Signatures of battery passports: the only family whose function has the signing key."""
