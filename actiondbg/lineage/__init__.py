"""Operations traced from source to final IR: stages, evidence, and the questions about them.

May import: everything below the commands but actiondbg.whatif. Needs the extra ``recordings``.
"""
