package storage

// PostgresStore keeps books in a server.
type PostgresStore struct {
	URL string
}
