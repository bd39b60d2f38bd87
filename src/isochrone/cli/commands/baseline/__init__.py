"""Keep earlier runs that later ones are compared with: add, remove, list and show them."""
