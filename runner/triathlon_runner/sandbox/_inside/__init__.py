"""What runs on the untrusted side: the template server, its confinement and the harness of a child.

Standard library only, relative imports only: these modules are loaded by a bare interpreter that sees neither
the rest of this package nor any other (`_boot.py`).
"""
