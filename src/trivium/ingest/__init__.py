"""Files to documents to chunks, incremental by content hash."""
