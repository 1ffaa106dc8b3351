"""A session without a tool, and a driver of the front end over it."""
