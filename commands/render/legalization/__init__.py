"""Why a conversion failed, or left operations: text, JSON and HTML."""
