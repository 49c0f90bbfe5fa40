"""Makes the lab's `nvidia` and `microshift` repositories from the templates beside this package."""
