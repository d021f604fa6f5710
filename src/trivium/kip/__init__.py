"""Remember: KIP 1.0-RC10, from command text to response."""
