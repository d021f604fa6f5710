"""What texts and questions say: languages, words and their forms, values, statements."""
