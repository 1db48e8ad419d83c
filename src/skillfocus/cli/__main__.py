from skillfocus.cli import main

main()
