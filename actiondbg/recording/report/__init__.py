"""The report of a recording: one page that needs no other file, for any number of actions.

The tables of the recording are summed up by SQL (groups, suspects, density ...), the actions that
the page holds one by one are chosen, and all of it goes as JSON into a page whose scripts draw it.
"""

from actiondbg.recording.report.limits import SIZE
from actiondbg.recording.report.page import report_page

__all__ = ["SIZE", "report_page"]
