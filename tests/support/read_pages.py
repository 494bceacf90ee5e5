"""Pages of HTML as whoever opens them finds them."""

import re
from html.parser import HTMLParser


class ReadPage(HTMLParser):
    """What a browser makes of a page, and what somebody who does not see it would miss."""

    VOID = frozenset({"meta", "br"})

    def __init__(self, made):
        super().__init__(convert_charrefs=True)
        self.open, self.problems, self.headings, self.cells, self.lines = [], [], [], [], []
        self.text, self.language, self.tables, self.captions, self.fetched, self.names = "", None, 0, 0, [], []
        self.feed(made)
        self.close()
        if self.open:
            self.problems.append(f"left open: {self.open}")

    def handle_starttag(self, tag, attrs):
        told = dict(attrs)
        if tag == "script":
            self.problems.append("a script")
        if any(name.startswith("on") for name in told):
            self.problems.append("a handler")
        self.fetched += [told[name] for name in ("src", "href", "xlink:href") if name in told]
        self.names += [told["id"]] if "id" in told else []
        if tag == "html":
            self.language = told.get("lang")
        if tag == "th" and told.get("scope") not in ("row", "col"):
            self.problems.append("a heading without scope")
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(tag)
        self.tables += tag == "table"
        self.captions += tag == "caption"
        if tag in ("td", "th"):
            self.cells.append("")
        if tag == "pre":
            self.lines.append("")
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if tag in self.VOID:
            return
        if not self.open or self.open.pop() != tag:
            self.problems.append(f"closed by mistake: {tag}")

    def handle_data(self, data):
        if "style" in self.open:
            return
        self.text += data
        if self.open and ("td" in self.open or "th" in self.open):
            self.cells[-1] += data
        if "pre" in self.open:
            self.lines[-1] += data
