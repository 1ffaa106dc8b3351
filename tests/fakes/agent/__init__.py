"""A fake agent: a tool that speaks the protocol, and misbehaves on request.

The fake_* modules run inside the fake tool, and import nothing of actiondbg.
"""
