"""Why dialect conversions did not legalize operations."""
