"""The samples that are text: a web page, a table, an e-mail and a note."""

from html import escape


def energieausweis() -> bytes:
    rows = [("Gebäudetyp", "Mehrfamilienhaus"), ("Baujahr", "1974"), ("Wesentlicher Energieträger", "Erdgas")]
    rows += [
        ("Endenergiebedarf", "118 kWh/(m²·a)"),
        ("Primärenergiebedarf", "130 kWh/(m²·a)"),
        ("Effizienzklasse", "D"),
    ]
    cells = "".join(f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>\n" for name, value in rows)
    return f"""<!doctype html>
<html lang="de">
<head><meta charset="utf-8"><title>Energieausweis für Wohngebäude</title><style>td {{ padding: 4px }}</style></head>
<body>
<h1>Energieausweis für Wohngebäude</h1>
<p>gemäß den §§ 79 ff. Gebäudeenergiegesetz, gültig bis 18. Mai 2036</p>
<h2>Gebäude Ahornweg 2, 80939 München</h2>
<table>
{cells}</table>
<h2>Empfehlungen zur Modernisierung</h2>
<ul>
<li>Dämmung der obersten Geschossdecke</li>
<li>Austausch des Heizkessels gegen eine Wärmepumpe</li>
</ul>
<p>Aussteller: Ingenieurbüro Muster &amp; Partner</p>
</body>
</html>
""".encode()


def kontoauszug() -> bytes:
    rows = [
        ("Buchungstag", "Wertstellung", "Verwendungszweck", "Auftraggeber/Empfänger", "Betrag EUR", "Saldo EUR"),
        ("02.03.2026", "02.03.2026", "Miete März Whg 4", "Petra Probe", "980,00", "12.480,15"),
        ("03.03.2026", "03.03.2026", "Miete März Whg 7", "Karl Erfunden", "1.140,00", "13.620,15"),
        ("05.03.2026", "05.03.2026", "Abschlag Strom Treppenhaus", "Stadtwerke Musterstadt", "-212,40", "13.407,75"),
        ("09.03.2026", "09.03.2026", "Rechnung Dachrinnenreinigung", "Blitzblank OHG", "-357,00", "13.050,75"),
        ("16.03.2026", "16.03.2026", "Kontoführungsentgelt", "Musterbank", "-9,90", "13.040,85"),
    ]
    return "\r\n".join(["Kontoauszug 3/2026", *(";".join(row) for row in rows), ""]).encode("cp1252")


def mahnung() -> bytes:
    lines = """\
From: Lindenhof Hausverwaltung <verwaltung@lindenhof.example>
To: Timo Testmann <timo@testmann.example>
Subject: =?utf-8?q?2=2E_Mahnung=3A_Mietr=C3=BCckstand_Wohnung_12?=
Date: Tue, 19 May 2026 09:12:00 +0200
Message-ID: <mahnung-12@lindenhof.example>
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="mahnung-12"

--mahnung-12
Content-Type: text/plain; charset="utf-8"
Content-Transfer-Encoding: 8bit

Sehr geehrter Herr Testmann,

trotz unserer Zahlungserinnerung vom 4. Mai 2026 konnten wir keinen Eingang der Miete feststellen.
Offen sind:

- Miete April 2026: 870,00 EUR
- Miete Mai 2026: 870,00 EUR
- Mahngebühr: 5,00 EUR

Bitte zahlen Sie den Betrag von 1.745,00 EUR bis zum 2. Juni 2026. Sonst übergeben wir die Forderung
unserem Rechtsanwalt und behalten uns die fristlose Kündigung vor.

Mit freundlichen Grüßen
Ihre Hausverwaltung

--mahnung-12
Content-Type: application/pdf
Content-Transfer-Encoding: base64
Content-Disposition: attachment; filename="Forderungsaufstellung.pdf"

JVBERi0xLjcKJSVFT0YK

--mahnung-12--
"""
    return lines.replace("\n", "\r\n").encode()


def uebergabeprotokoll() -> bytes:
    return (
        "WOHNUNGSÜBERGABEPROTOKOLL\n\n"
        "Objekt: Rosenstraße 3, 70182 Stuttgart, Wohnung 5\nAuszug am 30. April 2026\n\n"
        "Zählerstände\n\n"
        "- Strom 1EMH0012: 23.114,7 kWh\n- Kaltwasser: 318,402 m³\n- Heizkostenverteiler Bad: 1.207 Einheiten\n\n"
        "Zustand der Räume\n\n"
        "1. Wohnzimmer: Parkett mit Kratzern vor der Balkontür, Wände weiß gestrichen\n"
        "2. Küche: Spüle ohne Mängel, Fliesenspiegel mit zwei Bohrlöchern\n"
        "3. Bad: Silikonfuge an der Wanne zu erneuern\n\n"
        "Übergeben wurden vier Haustürschlüssel, zwei Briefkastenschlüssel und ein Kellerschlüssel.\n"
        "Mieter und Vermieter bestätigen die Richtigkeit mit ihrer Unterschrift.\n"
    ).encode()
