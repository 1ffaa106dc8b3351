"""The version of actiondbg; here, so that no room imports the package's face for it."""

VERSION = "0.2.0"
