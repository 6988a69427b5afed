"""`python -m crowdcore` is the `crowdcore` command, as launchers such as torchrun start it."""

from crowdcore.cli import main

if __name__ == "__main__":
    main()
