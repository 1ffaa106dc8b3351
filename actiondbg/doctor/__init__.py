"""The examination of tools: what they are, and what an agent can do in them.

May import: errors to session.
"""
