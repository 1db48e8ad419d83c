"""Skills of worlds with continuous variables and actions."""
