"""What a file of a repository says by itself: its language, the names it exports, its front matter."""
