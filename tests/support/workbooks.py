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
    f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{_TYPES}.worksheet+xml"/>'
    f'<Override PartName="/xl/styles.xml" ContentType="{_TYPES}.styles+xml"/></Types>',
    "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">'
    f'<Relationship Id="r" Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
    "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">'
    f'<Relationship Id="r1" Type="{_OFFICE}/worksheet" Target="worksheets/sheet1.xml"/>'
    f'<Relationship Id="r2" Type="{_OFFICE}/styles" Target="styles.xml"/></Relationships>',
    "xl/workbook.xml": f'<workbook xmlns="{_SHEETS}" xmlns:r="{_OFFICE}"><sheets>'
    '<sheet name="Data" sheetId="1" r:id="r1"/></sheets></workbook>',
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


def write_workbook(path, rows):
    """Write a workbook of one sheet."""
    lines = []
    for number, row in enumerate(rows, start=1):
        cells = "".join(cell(f"{chr(65 + place)}{number}", value) for place, value in enumerate(row))
        lines.append(f'<row r="{number}">{cells}</row>')
    with zipfile.ZipFile(path, "w") as file:
        for name, content in _PARTS.items():
            file.writestr(name, f'<?xml version="1.0"?>{content}')
        sheet = f'<worksheet xmlns="{_SHEETS}"><sheetData>{"".join(lines)}</sheetData></worksheet>'
        file.writestr("xl/worksheets/sheet1.xml", f'<?xml version="1.0"?>{sheet}')
