"""The public objects of the library: a knowledge base and its contexts, and what they are put together from.

`KnowledgeBase` owns everything and makes the contexts; `Context` is a thin handle. Both pass each call on to a part
with one job, which knows neither of them: `contexts`, `sources`, `knowledge`, `repository`, `packs`, `embedding`, all
over one `core`.
"""
