"""The sample documents of a property manager, all made up: python infra/local/make_samples.py [FOLDER] writes them."""

import sys
from collections.abc import Callable
from html import escape
from pathlib import Path

from sample_paper import Paper
from sample_word import heading, item, table, text, word

FOLDER = Path(__file__).parent / "samples"


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    for name, make in SAMPLES.items():
        (folder / name).write_bytes(make())


def mietvertrag() -> bytes:
    paper = Paper()
    paper.heading("Mietvertrag über Wohnraum", 20)
    paper.paragraph("zwischen der Lindenhof Hausverwaltung GmbH, Gartenweg 4, 10999 Berlin, als Vermieterin")
    paper.paragraph("und Frau Henrike Mustermann, zurzeit Seestraße 12, 13353 Berlin, als Mieterin")
    paper.heading("§ 1 Mietsache", 13)
    paper.paragraph(
        "Vermietet wird die Wohnung im zweiten Obergeschoss links des Hauses Hauptstraße 17, 10827 Berlin. Sie besteht "
        "aus drei Zimmern, Küche, Diele, Bad und Balkon; die Wohnfläche beträgt 78,4 Quadratmeter. Mitvermietet werden:"
    )
    paper.items(
        [
            "der Kellerraum Nr. 9 im Untergeschoss",
            "ein Stellplatz in der Tiefgarage mit der Nummer 21",
            "die Einbauküche nach der Liste in der Anlage",
        ]
    )
    paper.heading("§ 2 Mietzeit", 13)
    paper.paragraph(
        "Das Mietverhältnis beginnt am 1. März 2026 und läuft auf unbestimmte Zeit. Es kann von der Mieterin mit einer "
        "Frist von drei Monaten zum Monatsende gekündigt werden. Die Kündigung bedarf der Schriftform."
    )
    paper.heading("§ 3 Miete und Nebenkosten", 13)
    paper.table(
        [
            ["Bestandteil", "Betrag monatlich", "Fällig"],
            ["Kaltmiete", "1.120,00 EUR", "3. Werktag"],
            ["Vorauszahlung Betriebskosten", "165,00 EUR", "3. Werktag"],
            ["Vorauszahlung Heizung", "98,00 EUR", "3. Werktag"],
            ["Stellplatz", "75,00 EUR", "3. Werktag"],
            ["Gesamtmiete", "1.458,00 EUR", "3. Werktag"],
        ],
        [200, 130, 100],
    )
    paper.paragraph(
        "Die Miete ist im Voraus, spätestens am dritten Werktag eines Monats, auf das Konto der Vermieterin zu zahlen. "
        "Über die Vorauszahlungen wird jährlich abgerechnet."
    )
    paper.heading("§ 4 Kaution", 13)
    paper.paragraph(
        "Die Mieterin leistet eine Mietsicherheit in Höhe von drei Kaltmieten. Sie darf sie in drei Raten zahlen."
    )
    paper.heading("§ 5 Schönheitsreparaturen und Kleinreparaturen", 13)
    paper.paragraph(
        "Die Mieterin trägt die Kosten von Kleinreparaturen bis 100 Euro im Einzelfall, höchstens aber sechs vom "
        "Hundert der Jahreskaltmiete. Tierhaltung bedarf der Zustimmung der Vermieterin; Kleintiere sind erlaubt."
    )
    paper.paragraph("Berlin, den 12. Januar 2026")
    return paper.bytes()


def rechnung() -> bytes:
    paper = Paper()
    paper.put(paper.left, 770, "Nordwind Haustechnik GmbH", 13, is_bold=True)
    paper.put(paper.left, 755, "Werftstraße 8, 20457 Hamburg", 9)
    paper.y = 725
    paper.heading("Rechnung Nr. 2026-0417", 18)
    paper.table(
        [
            ["Rechnungsdatum", "14.04.2026"],
            ["Leistungszeitraum", "02.04.2026 bis 09.04.2026"],
            ["Kundennummer", "K-30518"],
        ],
        [160, 220],
        is_ruled=False,
    )
    paper.paragraph("Für die Wartung der Brennwertanlage im Objekt Elbchaussee 201 berechnen wir Ihnen:")
    paper.table(
        [
            ["Pos", "Leistung", "Menge", "Einzelpreis", "Betrag"],
            ["1", "Wartung Brennwertkessel", "1 Stk", "189,00", "189,00"],
            ["2", "Abgasmessung mit Protokoll", "1 Stk", "64,50", "64,50"],
            ["3", "Zündelektrode erneuert", "2 Stk", "38,20", "76,40"],
            ["4", "Anfahrt Monteur", "1 psch", "45,00", "45,00"],
            ["", "Nettobetrag", "", "", "374,90"],
            ["", "Umsatzsteuer 19 %", "", "", "71,23"],
            ["", "Rechnungsbetrag", "", "", "446,13"],
        ],
        [36, 200, 60, 80, 80],
    )
    paper.paragraph(
        "Bitte überweisen Sie den Rechnungsbetrag innerhalb von 14 Tagen ohne Abzug. Unsere Umsatzsteuer-"
        "Identifikationsnummer lautet DE000000000. Es gelten unsere Geschäftsbedingungen."
    )
    return paper.bytes()


def nebenkostenabrechnung() -> bytes:
    paper = Paper()
    paper.heading("Nebenkostenabrechnung 2025", 20)
    paper.paragraph("Objekt: Kastanienallee 33, 04107 Leipzig. Abrechnungszeitraum: 1. Januar bis 31. Dezember 2025.")
    paper.heading("Verteilung der Betriebskosten", 13)
    paper.table(
        [
            ["Kostenart", "Umlageschlüssel", "Gesamtkosten", "Ihr Anteil"],
            ["Grundsteuer", "Wohnfläche", "3.840,00", "301,06"],
            ["Wasser und Abwasser", "Verbrauch", "5.212,40", "388,17"],
            ["Müllbeseitigung", "Personen", "1.980,00", "176,00"],
            ["Schornsteinfeger", "Wohneinheiten", "412,00", "34,33"],
            ["Gartenpflege", "Wohnfläche", "1.650,00", "129,36"],
            ["Heizung und Warmwasser", "Verbrauch 70 %", "14.310,75", "1.093,88"],
            ["Summe", "", "27.405,15", "2.122,80"],
        ],
        [150, 110, 100, 90],
    )
    paper.heading("Ergebnis", 13)
    paper.items(["Ihr Anteil an den Kosten: 2.122,80 EUR", "Ihre Vorauszahlungen: 1.980,00 EUR"], bullet="–")
    paper.paragraph("Es ergibt sich eine Nachzahlung von 142,80 EUR, die bis zum 30. Juni 2026 zu leisten ist.", 11)
    paper.turn_page()
    paper.heading("Erläuterungen", 13)
    paper.paragraph(
        "Einwendungen gegen die Abrechnung können Sie innerhalb von zwölf Monaten nach Zugang geltend machen. Die "
        "Belege liegen in unserem Büro zur Einsicht bereit. Die Heizkosten wurden nach der Heizkostenverordnung zu "
        "siebzig vom Hundert nach dem abgelesenen Verbrauch der Wärmemengenzähler verteilt."
    )
    return paper.bytes()


def insurance_policy() -> bytes:
    paper = Paper()
    paper.heading("Buildings Insurance Policy", 20)
    paper.paragraph("Policy number BI-7720-14. Insured: Lindenhof Property Management Ltd, 5 Garden Lane, Leeds.")
    paper.heading("Schedule", 13)
    paper.table(
        [
            ["Section", "Sum insured", "Excess"],
            ["Fire, lightning, explosion", "GBP 2,400,000", "GBP 250"],
            ["Escape of water", "GBP 2,400,000", "GBP 500"],
            ["Storm and flood", "GBP 2,400,000", "GBP 1,000"],
            ["Property owners' liability", "GBP 5,000,000", "none"],
        ],
        [190, 130, 90],
    )
    paper.heading("What is not covered", 13)
    paper.items(
        [
            "loss by wear and tear, or by subsidence that was known before cover began",
            "damage while the building stood empty for more than sixty days",
            "claims that are not notified within thirty days",
        ]
    )
    paper.paragraph(
        "The annual premium of GBP 3,180.00 is payable in advance. The underwriter may cancel for non-payment."
    )
    return paper.bytes()


def lease() -> bytes:
    return word(
        heading("Residential Lease Agreement", "Title")
        + text("This lease is made on 3 February 2026 between Lindenhof Property Management Ltd (the Landlord) and")
        + text("Oliver Sample, presently of 40 Mill Road, Leeds (the Tenant).")
        + heading("1. Premises")
        + text("The Landlord lets to the Tenant the maisonette on the first floor of 22 Harbour View, Leeds LS1 4AB.")
        + heading("2. Term and rent")
        + text(
            "The term is twelve months from 1 March 2026. The rent of GBP 1,250 is due on the first day of each month."
        )
        + table(
            [
                ["Payment", "Amount", "Due"],
                ["Monthly rent", "GBP 1,250.00", "1st of the month"],
                ["Security deposit", "GBP 1,440.00", "on signing"],
            ]
        )
        + heading("3. The Tenant agrees")
        + item("to keep the interior in good repair")
        + item("not to sublet without the Landlord's written consent")
        + item("to permit inspection upon twenty-four hours' notice")
        + '<w:p><w:r><w:br w:type="page"/></w:r></w:p>'
        + heading("4. Termination")
        + text("Either party may end the tenancy after the term by two months' written notice.")
        + text("Signed by both parties in the presence of a witness.")
    )


def protokoll() -> bytes:
    return word(
        heading("Protokoll der Eigentümerversammlung", "Title")
        + text("Wohnungseigentümergemeinschaft Birkenring 5 bis 9, 50735 Köln, am 23. April 2026 um 18:00 Uhr.")
        + text("Anwesend oder vertreten sind 712 von 1.000 Miteigentumsanteilen. Die Versammlung ist beschlussfähig.")
        + heading("TOP 1 Genehmigung des Wirtschaftsplans")
        + text("Der Wirtschaftsplan 2026 wird in der vorgelegten Fassung beschlossen.")
        + table([["Ja", "Nein", "Enthaltung"], ["640", "42", "30"]])
        + heading("TOP 2 Sanierung der Fassade")
        + text("Die Verwalterin wird beauftragt, drei Angebote einzuholen. Finanziert wird aus der Erhaltungsrücklage.")
        + heading("TOP 3 Verschiedenes")
        + item("Die Hausordnung wird um Ruhezeiten ergänzt.")
        + item("Der Verwaltungsbeirat prüft die Jahresabrechnung.")
        + text("Die Versammlung endet um 20:15 Uhr. Versammlungsleiter: Jonas Beispiel.")
    )


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


SAMPLES: dict[str, Callable[[], bytes]] = {
    "mietvertrag-hauptstrasse-17.pdf": mietvertrag,
    "rechnung-2026-0417.pdf": rechnung,
    "nebenkostenabrechnung-2025.pdf": nebenkostenabrechnung,
    "insurance-policy.pdf": insurance_policy,
    "lease-harbour-view.docx": lease,
    "protokoll-eigentuemerversammlung.docx": protokoll,
    "energieausweis-ahornweg.html": energieausweis,
    "kontoauszug-2026-03.csv": kontoauszug,
    "mahnung-wohnung-12.eml": mahnung,
    "uebergabeprotokoll-rosenstrasse.txt": uebergabeprotokoll,
}

if __name__ == "__main__":
    main()
