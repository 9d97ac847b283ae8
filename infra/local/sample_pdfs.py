"""The samples that are PDF files."""

from sample_paper import Paper


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
