"""What the user's interpreter runs: `python /…/worker`, in the project's folder.

The path becomes what `python app.py` has, and this folder is loaded by its location under a
private name: nothing of ours can be imported, or shadowed, by the user's code.
"""

if __name__ == "__main__":
    import os
    import sys
    from types import ModuleType

    _package = ModuleType("_rg_worker")
    _package.__path__ = [os.path.dirname(os.path.abspath(__file__))]
    sys.modules["_rg_worker"] = _package
    sys.path[0] = os.getcwd()
    sys.argv = ["retrograph"]

    from _rg_worker.serve import main  # type: ignore[import-not-found]

    main()
