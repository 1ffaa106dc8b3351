"""Results of the commands on suites, as text, JSON and HTML."""
