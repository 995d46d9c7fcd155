"""What a user can mend about a cluster."""

from triathlon_runner.errors import UserError


class ClusterError(UserError):
    """Ray is not installed, the cluster is not reached, or none of its nodes can execute anything."""
