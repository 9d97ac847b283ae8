"""Rules of battery passports: a JSON document of attributes and checks, its evaluation and its tests."""
