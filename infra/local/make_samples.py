"""Sample PDF and Word files of a made-up property manager: python infra/local/make_samples.py [FOLDER] writes them."""

import sys
from collections.abc import Callable
from pathlib import Path

from sample_pdfs import insurance_policy, mietvertrag, nebenkostenabrechnung, rechnung
from sample_word import heading, item, table, text, word

FOLDER = Path(__file__).parent / "samples"


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    for name, make in SAMPLES.items():
        (folder / name).write_bytes(make())


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


SAMPLES: dict[str, Callable[[], bytes]] = {
    "mietvertrag-hauptstrasse-17.pdf": mietvertrag,
    "rechnung-2026-0417.pdf": rechnung,
    "nebenkostenabrechnung-2025.pdf": nebenkostenabrechnung,
    "insurance-policy.pdf": insurance_policy,
    "lease-harbour-view.docx": lease,
    "protokoll-eigentuemerversammlung.docx": protokoll,
}


if __name__ == "__main__":
    main()
