package api

// Server answers HTTP requests.
type Server struct{}

// Serve blocks until the listener closes.
func (s *Server) Serve() error { return nil }
