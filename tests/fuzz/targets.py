"""All that is fed with changed inputs: each target by its name, in the order of what it takes to use one."""

from fuzz import commands, documents, tables, texts

TARGETS = texts.TARGETS | documents.TARGETS | commands.TARGETS | tables.TARGETS
