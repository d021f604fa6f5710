"""The tables, and the migrations that lead to them.

Ids are even for concepts and odd for links, so that an id alone tells the kind; they are unique in the file and
never reused. `ctx` leads every other key and index. `attrs` and `meta` hold binary JSON; the engine's own metadata
(`_version`, `_updated_at`) are columns. `concept_text` is fed with tokens that `trivium.search.segment` cut.
"""

from __future__ import annotations

APPLICATION_ID = 0x54524956  # "TRIV"

_V1 = """
CREATE TABLE context(
  id INTEGER PRIMARY KEY,
  workspace TEXT NOT NULL,
  slug TEXT NOT NULL,
  fields BLOB NOT NULL,
  created_at TEXT NOT NULL,
  schema_epoch INTEGER NOT NULL DEFAULT 0,
  capsules TEXT NOT NULL DEFAULT '') STRICT;
CREATE UNIQUE INDEX context_slug ON context(workspace, slug);

CREATE TABLE sequence(kind TEXT PRIMARY KEY, next INTEGER NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO sequence VALUES ('concept', 1), ('link', 1), ('context', 1);

CREATE TABLE concept(
  id INTEGER PRIMARY KEY,
  ctx INTEGER NOT NULL,
  type TEXT NOT NULL,
  name TEXT NOT NULL,
  version INTEGER NOT NULL,
  updated_at TEXT NOT NULL,
  attrs BLOB NOT NULL,
  meta BLOB NOT NULL) STRICT;
CREATE UNIQUE INDEX concept_type_name ON concept(ctx, type, name);
CREATE INDEX concept_name ON concept(ctx, name);
CREATE INDEX concept_type ON concept(ctx, type);

CREATE TABLE link(
  id INTEGER PRIMARY KEY,
  ctx INTEGER NOT NULL,
  s INTEGER NOT NULL,
  p TEXT NOT NULL,
  o INTEGER NOT NULL,
  version INTEGER NOT NULL,
  updated_at TEXT NOT NULL,
  attrs BLOB NOT NULL,
  meta BLOB NOT NULL) STRICT;
CREATE UNIQUE INDEX link_spo ON link(ctx, s, p, o);
CREATE INDEX link_ops ON link(ctx, o, p, s);
CREATE INDEX link_p ON link(ctx, p);

CREATE TABLE counter(
  ctx INTEGER NOT NULL,
  kind TEXT NOT NULL,
  key TEXT NOT NULL,
  n INTEGER NOT NULL,
  PRIMARY KEY(ctx, kind, key)) STRICT, WITHOUT ROWID;

CREATE VIRTUAL TABLE concept_text USING fts5(
  scope, name, alias, body,
  content='', contentless_delete=1, tokenize="ascii tokenchars '-_.'");
"""

_V2 = """
CREATE TABLE repository(
  ctx INTEGER PRIMARY KEY,
  root TEXT NOT NULL,
  index_hash TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  built_at TEXT NOT NULL,
  hashes BLOB NOT NULL,
  body BLOB NOT NULL,
  parts BLOB NOT NULL) STRICT;
CREATE INDEX repository_root ON repository(root);
"""

# One script per version, applied in order; a released script never changes.
MIGRATIONS: tuple[str, ...] = (_V1, _V2)

VERSION = len(MIGRATIONS)
