"""`python -m skillfocus.cli`"""

from skillfocus.cli import main

main()
