"""A naive evaluator of KIP queries, written from the protocol text alone, to compare the engine with."""
