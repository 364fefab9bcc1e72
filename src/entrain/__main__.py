from entrain.cli import main

main()
