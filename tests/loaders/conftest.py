"""Assertions in the shared contract explain themselves, as those in test modules do."""

import pytest

pytest.register_assert_rewrite("loaders.contract", "loaders.sqlite_files")
