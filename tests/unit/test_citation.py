"""What is cited: the package, CITATION.cff and the page say the same."""

import re
from pathlib import Path

import irisdp

ROOT = Path(__file__).parents[2]


def bibtex(text):
    """The fields of one entry, without braces and line breaks."""
    fields = re.findall(r"^  (\w+) +=\s*\{(.*?)\}(?:,|$)", text, re.DOTALL | re.MULTILINE)
    return {name: " ".join(value.strip("{}").split()) for name, value in fields}


def test_the_citation_of_the_package_says_what_the_file_for_programs_says():
    stated = (ROOT / "CITATION.cff").read_text("utf-8")
    fields = dict(re.findall(r'^([\w-]+): "?(.+?)"?$', stated, re.MULTILINE))
    cited = bibtex(irisdp.__citation__)
    assert irisdp.__citation__.startswith(f"@{fields['type']}{{irisdp,")
    assert {name: cited[name] for name in ("title", "version", "license")} == {
        name: fields[name] for name in ("title", "version", "license")
    }
    assert [cited["author"]] == re.findall(r'^  - name: "(.+)"$', stated, re.MULTILINE)
    assert cited["version"] == irisdp.__version__


def test_the_page_shows_the_citation_of_the_package():
    page = (ROOT / "docs" / "project" / "citing.md").read_text("utf-8")
    assert f">>> print(irisdp.__citation__)\n{irisdp.__citation__}\n" in page
