"""Settings, costs of orders, and the search for the best order of nodes or of aggregators."""
