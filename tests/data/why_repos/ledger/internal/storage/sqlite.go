package storage

// SQLiteStore keeps books in one file.
type SQLiteStore struct {
	Path string
}
