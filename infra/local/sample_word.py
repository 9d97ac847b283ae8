"""A small writer of DOCX files, for samples: the same bytes each time, on every machine."""

import io
import zipfile
from collections.abc import Sequence
from html import escape

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def heading(text: str, style: str = "Heading1") -> str:
    return paragraph(text, f'<w:pStyle w:val="{style}"/>')


def item(text: str) -> str:
    return paragraph(text, '<w:pStyle w:val="ListBullet"/>')


def text(text: str) -> str:
    return paragraph(text)


def paragraph(text: str, properties: str = "") -> str:
    return f"<w:p><w:pPr>{properties}</w:pPr><w:r><w:t>{escape(text, quote=False)}</w:t></w:r></w:p>"


def table(rows: Sequence[Sequence[str]]) -> str:
    lines = ("".join(f"<w:tc>{paragraph(cell)}</w:tc>" for cell in row) for row in rows)
    return f"<w:tbl><w:tblPr/><w:tblGrid/>{''.join(f'<w:tr>{line}</w:tr>' for line in lines)}</w:tbl>"


def word(body: str) -> bytes:
    """A DOCX that Word opens; stored, not packed, since not every machine packs alike."""
    office = "application/vnd.openxmlformats-officedocument.wordprocessingml"
    relations = "http://schemas.openxmlformats.org/package/2006/relationships"
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    named = {"Title": "Title", "Heading1": "heading 1", "ListBullet": "List Bullet"}
    styles = "".join(
        f'<w:style w:type="paragraph" w:styleId="{id}"><w:name w:val="{named[id]}"/></w:style>' for id in named
    )
    parts = {
        "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/word/document.xml" ContentType="{office}.document.main+xml"/>'
        f'<Override PartName="/word/styles.xml" ContentType="{office}.styles+xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{relations}">'
        f'<Relationship Id="rId1" Type="{kind}/officeDocument" Target="word/document.xml"/></Relationships>',
        "word/_rels/document.xml.rels": f'<Relationships xmlns="{relations}">'
        f'<Relationship Id="rId1" Type="{kind}/styles" Target="styles.xml"/></Relationships>',
        "word/document.xml": f'<w:document xmlns:w="{W}"><w:body>{body}<w:sectPr/></w:body></w:document>',
        "word/styles.xml": f'<w:styles xmlns:w="{W}">{styles}</w:styles>',
    }
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        for name, content in parts.items():
            entry = zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0))
            entry.create_system = 3
            archive.writestr(entry, f'<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n{content}')
    return out.getvalue()
