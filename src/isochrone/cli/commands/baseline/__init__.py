"""Keep earlier runs that later ones are held against: add, list and show them."""
