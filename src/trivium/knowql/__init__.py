"""Ask: KnowQL 0.1.0, from a query document to a response document."""
