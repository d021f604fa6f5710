package api

// IdempotencyKey names one attempt of a client.
type IdempotencyKey string

// SeenBefore tells whether a key was used.
func SeenBefore(key IdempotencyKey) bool { return false }
