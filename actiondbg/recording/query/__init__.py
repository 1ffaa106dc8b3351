"""SQL queries over recordings: the database, its sources, results and exports.

May import: errors to session, recording.recording and what it may.
"""
