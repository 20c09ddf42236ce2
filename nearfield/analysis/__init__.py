"""Results computed from recorded fields: S-parameters, flux, far field."""
