"""The web page on which a network reads what one draws: its files, a loopback server, an export."""

from entrain.playground.files import export, page_files
from entrain.playground.server import PageServer
from entrain.playground.single import export_file

__all__ = ["PageServer", "export", "export_file", "page_files"]
