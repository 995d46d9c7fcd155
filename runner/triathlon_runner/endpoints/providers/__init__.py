"""How each kind of server is asked: one module a provider, listed in `endpoints/_provider_table.py`."""
