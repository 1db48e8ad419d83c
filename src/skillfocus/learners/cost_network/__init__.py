"""Networks of costs-to-go, for worlds with discrete actions."""
