"""The web page that simulates a network on drawings and features: files, local server, export."""

from entrain.playground.files import export, page_files
from entrain.playground.server import PageServer
from entrain.playground.single import export_file

__all__ = ["PageServer", "export", "export_file", "page_files"]
