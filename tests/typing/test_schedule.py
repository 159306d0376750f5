"""Types that users meet, checked by mypy and pyright."""
