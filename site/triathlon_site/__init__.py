"""The site builder: reads results, writes pages. Never calls a model or runs a program."""
