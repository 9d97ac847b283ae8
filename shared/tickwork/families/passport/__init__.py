"""Battery passports: from facts and rules to versions that are signed and can be verified."""
