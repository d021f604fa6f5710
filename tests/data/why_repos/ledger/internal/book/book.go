package book

// Book holds the accounts of one client.
type Book struct {
	Accounts map[string]int64
}

// Post books an amount.
func (b *Book) Post(account string, cents int64) {
	b.Accounts[account] += cents
}

// NewBook makes an empty book.
func NewBook() *Book {
	return &Book{Accounts: map[string]int64{}}
}
