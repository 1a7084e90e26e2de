"""`python -m recrawl`: the command line.

Touches: what the verb touches.
"""

from recrawl.cli.main import main

if __name__ == "__main__":
    main()
