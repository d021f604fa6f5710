"""`python -m trivium`: the command line, where its script is not on the path."""

from trivium.doors.program import main

main()
