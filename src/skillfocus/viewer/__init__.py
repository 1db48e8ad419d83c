"""Interactive pages on which skills can be watched; see `page.write_page`."""
