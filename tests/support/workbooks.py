"""Small workbooks, written by hand: no library decides what a cell holds."""

import zipfile
from xml.sax.saxutils import escape

_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_SHEETS = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_TYPES = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_PARTS = {
    "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Default Extension="xml" ContentType="application/xml"/>'
    f'<Override PartName="/xl/workbook.xml" ContentType="{_TYPES}.sheet.main+xml"/>'
    f'<Override PartName="/xl/styles.xml" ContentType="{_TYPES}.styles+xml"/></Types>',
    "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">'
    f'<Relationship Id="r" Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
    "xl/styles.xml": f'<styleSheet xmlns="{_SHEETS}"><fonts><font/></fonts><fills><fill/></fills><borders><border/>'
    '</borders><cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="3"><xf numFmtId="0"/>'
    '<xf numFmtId="14" applyNumberFormat="1"/><xf numFmtId="22" applyNumberFormat="1"/></cellXfs></styleSheet>',
}
_STYLES = {"date": 1, "time": 2}


def cell(place, value):
    """Write a cell: text, a number, or a pair of a kind (date, time, error, truth, formula) and what is stored."""
    if value is None:
        return ""
    if isinstance(value, str):
        return f'<c r="{place}" t="inlineStr"><is><t xml:space="preserve">{escape(value)}</t></is></c>'
    kind, stored = value if isinstance(value, tuple) else ("number", value)
    if kind in _STYLES:
        return f'<c r="{place}" s="{_STYLES[kind]}"><v>{stored}</v></c>'
    marks = {"error": ' t="e"', "truth": ' t="b"'}.get(kind, "")
    return f'<c r="{place}"{marks}>{"<f>1+1</f>" if kind == "formula" else ""}<v>{stored}</v></c>'


def write_workbook(path, rows, **others):
    """Write a workbook of the sheet Data, and of others by their names."""
    sheets = {"Data": rows, **others}
    numbers = range(1, len(sheets) + 1)
    parts = dict(_PARTS)
    named = "".join(
        f'<sheet name="{escape(name)}" sheetId="{n}" r:id="r{n}"/>' for n, name in zip(numbers, sheets, strict=True)
    )
    parts["xl/workbook.xml"] = f'<workbook xmlns="{_SHEETS}" xmlns:r="{_OFFICE}"><sheets>{named}</sheets></workbook>'
    parts["xl/_rels/workbook.xml.rels"] = (
        f'<Relationships xmlns="{_PACKAGE}/relationships">'
        + "".join(_relation(f"r{n}", "worksheet", f"worksheets/sheet{n}.xml") for n in numbers)
        + _relation("styles", "styles", "styles.xml")
        + "</Relationships>"
    )
    overrides = "".join(_override(f"/xl/worksheets/sheet{n}.xml", "worksheet") for n in numbers)
    parts["[Content_Types].xml"] = parts["[Content_Types].xml"].replace("</Types>", f"{overrides}</Types>")
    for n, content in zip(numbers, sheets.values(), strict=True):
        parts[f"xl/worksheets/sheet{n}.xml"] = _sheet(content)
    with zipfile.ZipFile(path, "w") as file:
        for name, content in parts.items():
            file.writestr(name, f'<?xml version="1.0"?>{content}')


def _relation(number, kind, target):
    return f'<Relationship Id="{number}" Type="{_OFFICE}/{kind}" Target="{target}"/>'


def _override(part, kind):
    return f'<Override PartName="{part}" ContentType="{_TYPES}.{kind}+xml"/>'


def _sheet(rows):
    lines = []
    for number, row in enumerate(rows, start=1):
        cells = "".join(cell(f"{chr(65 + place)}{number}", value) for place, value in enumerate(row))
        lines.append(f'<row r="{number}">{cells}</row>')
    return f'<worksheet xmlns="{_SHEETS}"><sheetData>{"".join(lines)}</sheetData></worksheet>'
