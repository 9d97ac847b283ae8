"""Battery passports: pure functions from facts and rules to bytes that anybody can verify."""
