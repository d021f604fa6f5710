"""The HTTP door: one ASGI application over a knowledge base (KnowQL reference 6, 11 and 12, and KIP over HTTP)."""
