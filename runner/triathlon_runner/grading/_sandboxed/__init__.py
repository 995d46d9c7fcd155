"""Source texts that the sandbox executes for class tests: proxies, and what answers them."""
