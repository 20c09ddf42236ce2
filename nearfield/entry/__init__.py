"""Values that a user types: units, schemas, messages, constants of nature."""
