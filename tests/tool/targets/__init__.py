"""Tests over every compiler that scripts/setup-tools installs, and over the package's own."""
