"""Tools that make the lab distribution: signed RPM repositories from Debian packages."""
