"""The tables, and the migrations that lead to them.

Ids are even for concepts and odd for links, so that an id alone tells the kind; they are unique in the file and
never reused. `ctx` leads every other key and index. `attrs` and `meta` hold binary JSON; the engine's own metadata
(`_version`, `_updated_at`) are columns. `concept_text` is fed with tokens that `trivium.search.segment` cut.
"""

from __future__ import annotations

APPLICATION_ID = 0x54524956  # "TRIV"

META_TYPES = ("$ConceptType", "$PropositionType")
"""The types of the nodes that define what types and predicates a context has."""

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

_V3 = """
ALTER TABLE context ADD COLUMN uuid TEXT NOT NULL DEFAULT '';
ALTER TABLE context ADD COLUMN updated_at TEXT NOT NULL DEFAULT '';
ALTER TABLE context ADD COLUMN live_version INTEGER NOT NULL DEFAULT 0;
ALTER TABLE context ADD COLUMN stale INTEGER NOT NULL DEFAULT 0;
ALTER TABLE context ADD COLUMN imported_at TEXT;
ALTER TABLE context ADD COLUMN curated_at TEXT;
ALTER TABLE context ADD COLUMN ledger TEXT NOT NULL DEFAULT '{}';
UPDATE context SET updated_at = created_at, uuid = lower(hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' ||
  substr(hex(randomblob(2)), 2) || '-a' || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6)));
CREATE UNIQUE INDEX context_uuid ON context(workspace, uuid);

CREATE TABLE source(
  id INTEGER PRIMARY KEY,
  ctx INTEGER NOT NULL,
  path TEXT NOT NULL,
  media_type TEXT NOT NULL,
  hash TEXT NOT NULL,
  size INTEGER NOT NULL,
  dated TEXT,
  imported_at TEXT NOT NULL) STRICT;
CREATE UNIQUE INDEX source_path ON source(ctx, path);
CREATE TABLE source_content(source INTEGER PRIMARY KEY, content BLOB NOT NULL) STRICT;

CREATE TABLE document(
  id INTEGER PRIMARY KEY,
  ctx INTEGER NOT NULL,
  path TEXT NOT NULL,
  live INTEGER NOT NULL,
  source_hash TEXT NOT NULL,
  recipe TEXT NOT NULL,
  title TEXT NOT NULL,
  dated TEXT,
  hash TEXT NOT NULL,
  chars INTEGER NOT NULL,
  problem TEXT,
  outline BLOB NOT NULL) STRICT;
CREATE UNIQUE INDEX document_path ON document(ctx, path, live);
CREATE TABLE document_text(document INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;

CREATE TABLE chunk(
  id INTEGER PRIMARY KEY,
  ctx INTEGER NOT NULL,
  document INTEGER NOT NULL,
  position INTEGER NOT NULL,
  live INTEGER NOT NULL,
  key TEXT NOT NULL,
  start INTEGER NOT NULL,
  stop INTEGER NOT NULL,
  first_line INTEGER NOT NULL,
  last_line INTEGER NOT NULL,
  place BLOB NOT NULL,
  text TEXT NOT NULL) STRICT;
CREATE UNIQUE INDEX chunk_position ON chunk(ctx, document, position);
CREATE INDEX chunk_key ON chunk(ctx, key, live);

CREATE TABLE staged_text(
  chunk INTEGER PRIMARY KEY,
  ctx INTEGER NOT NULL,
  heading TEXT NOT NULL,
  body TEXT NOT NULL) STRICT;
CREATE INDEX staged_text_ctx ON staged_text(ctx);

CREATE TABLE artifact(
  id INTEGER PRIMARY KEY,
  ctx INTEGER NOT NULL,
  live INTEGER NOT NULL,
  key TEXT NOT NULL,
  name TEXT NOT NULL,
  type TEXT NOT NULL,
  kind TEXT NOT NULL,
  scope TEXT NOT NULL,
  format TEXT NOT NULL,
  sources BLOB NOT NULL,
  edges BLOB NOT NULL,
  text TEXT NOT NULL) STRICT;
CREATE UNIQUE INDEX artifact_key ON artifact(ctx, key, live);

CREATE TABLE vector(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  ctx INTEGER NOT NULL,
  kind TEXT NOT NULL,
  item TEXT NOT NULL,
  model TEXT NOT NULL,
  version INTEGER NOT NULL,
  digest TEXT NOT NULL,
  data BLOB NOT NULL) STRICT;
CREATE INDEX vector_item ON vector(ctx, kind, item, model, version, digest);
CREATE INDEX vector_added ON vector(ctx, kind, model, id);

CREATE TABLE vector_state(
  ctx INTEGER NOT NULL,
  kind TEXT NOT NULL,
  model TEXT NOT NULL,
  last INTEGER NOT NULL,
  removed INTEGER NOT NULL,
  PRIMARY KEY(ctx, kind, model)) STRICT, WITHOUT ROWID;
CREATE TABLE vector_lease(
  model TEXT PRIMARY KEY,
  holder TEXT NOT NULL,
  until INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TRIGGER vector_is_added AFTER INSERT ON vector BEGIN
  INSERT INTO vector_state VALUES (NEW.ctx, NEW.kind, NEW.model, NEW.id, 0) ON CONFLICT DO UPDATE SET last = NEW.id;
END;
CREATE TRIGGER vector_is_removed AFTER DELETE ON vector BEGIN
  UPDATE vector_state SET removed = removed + 1 WHERE ctx = OLD.ctx AND kind = OLD.kind AND model = OLD.model;
END;
CREATE TRIGGER concept_leaves_no_vector AFTER DELETE ON concept BEGIN
  DELETE FROM vector WHERE ctx = OLD.ctx AND kind = 'concept' AND item = CAST(OLD.id AS TEXT);
END;
CREATE TRIGGER chunk_leaves_no_vector AFTER DELETE ON chunk
  WHEN NOT EXISTS (SELECT 1 FROM chunk WHERE ctx = OLD.ctx AND key = OLD.key) BEGIN
  DELETE FROM vector WHERE ctx = OLD.ctx AND kind = 'chunk' AND item = OLD.key;
END;
CREATE TRIGGER artifact_leaves_no_vector AFTER DELETE ON artifact
  WHEN NOT EXISTS (SELECT 1 FROM artifact WHERE ctx = OLD.ctx AND key = OLD.key) BEGIN
  DELETE FROM vector WHERE ctx = OLD.ctx AND kind = 'artifact' AND item = OLD.key;
END;

CREATE TABLE removed(ctx INTEGER PRIMARY KEY) STRICT;

CREATE TABLE worker(
  id TEXT PRIMARY KEY,
  host TEXT NOT NULL,
  pid INTEGER NOT NULL,
  started TEXT NOT NULL,
  lease_until INTEGER NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE task(
  workspace TEXT NOT NULL,
  id TEXT NOT NULL,
  ctx INTEGER NOT NULL,
  workflow TEXT NOT NULL,
  state TEXT NOT NULL,
  worker TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  done INTEGER NOT NULL DEFAULT 0,
  total INTEGER NOT NULL DEFAULT 0,
  error TEXT,
  detail BLOB NOT NULL,
  PRIMARY KEY(workspace, id)) STRICT, WITHOUT ROWID;
CREATE INDEX task_ctx ON task(workspace, ctx, id);

CREATE TABLE session(
  workspace TEXT NOT NULL,
  id TEXT NOT NULL,
  title TEXT,
  pinned TEXT NOT NULL,
  last_query TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  PRIMARY KEY(workspace, id)) STRICT, WITHOUT ROWID;
CREATE TABLE session_scope(
  workspace TEXT NOT NULL,
  ctx INTEGER NOT NULL,
  session TEXT NOT NULL,
  PRIMARY KEY(workspace, ctx, session)) STRICT, WITHOUT ROWID;

CREATE TABLE query(
  row INTEGER PRIMARY KEY,
  workspace TEXT NOT NULL,
  id TEXT NOT NULL,
  session TEXT NOT NULL,
  number INTEGER NOT NULL,
  previous TEXT,
  status TEXT NOT NULL,
  worker TEXT,
  created_ms INTEGER NOT NULL,
  deadline_ms INTEGER NOT NULL,
  finished_ms INTEGER,
  request TEXT NOT NULL,
  result TEXT NOT NULL,
  feedback TEXT,
  trace TEXT) STRICT;
CREATE UNIQUE INDEX query_id ON query(workspace, id);
CREATE UNIQUE INDEX query_session ON query(workspace, session, number);
CREATE UNIQUE INDEX query_running ON query(workspace, session) WHERE status = 'in_progress';
CREATE INDEX query_worker ON query(worker) WHERE status = 'in_progress';

CREATE TABLE event(
  workspace TEXT NOT NULL,
  query TEXT NOT NULL,
  number INTEGER NOT NULL,
  type TEXT NOT NULL,
  data TEXT NOT NULL,
  PRIMARY KEY(workspace, query, number)) STRICT, WITHOUT ROWID;

CREATE TABLE idempotency(
  workspace TEXT NOT NULL,
  key TEXT NOT NULL,
  digest TEXT NOT NULL,
  query TEXT NOT NULL,
  expires_ms INTEGER NOT NULL,
  PRIMARY KEY(workspace, key)) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_expiry ON idempotency(expires_ms);
"""

_V4 = """
CREATE TABLE repository_page(
  id INTEGER PRIMARY KEY,
  ctx INTEGER NOT NULL,
  part TEXT NOT NULL,
  number INTEGER NOT NULL,
  value BLOB NOT NULL) STRICT;
CREATE UNIQUE INDEX repository_page_place ON repository_page(ctx, part, number);
CREATE TRIGGER repository_leaves_no_page AFTER DELETE ON repository BEGIN
  DELETE FROM repository_page WHERE ctx = OLD.ctx;
END;
"""

# One script per version, applied in order; a released script never changes.
MIGRATIONS: tuple[str, ...] = (_V1, _V2, _V3, _V4)

VERSION = len(MIGRATIONS)
