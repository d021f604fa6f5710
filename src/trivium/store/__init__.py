"""The store: the only room that speaks SQL besides the KQL emitter."""
