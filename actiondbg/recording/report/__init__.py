"""The report of a recording: one self-contained HTML page, for any number of actions.

SQL queries summarise the tables (queries, overview, suspects) and choose single actions; the
results go as JSON into a page whose scripts draw them.
May import: errors to session, analysis, recording.query, recording.session, recording.tables.
"""

from actiondbg.recording.report.overview import SIZE
from actiondbg.recording.report.page import ReportPage, report_page

__all__ = ["SIZE", "ReportPage", "report_page"]
