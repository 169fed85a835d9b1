"""`python -m retrograph`."""

from retrograph.cli.main import run

if __name__ == "__main__":
    run()
