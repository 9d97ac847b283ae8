"""The classifier: how often it is right, whether its confidence can be believed, and what it learns."""

import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from tests.world.command_line import COMMAND
from tickwork.families.classify.evaluate import (
    HELD_OUT,
    Sample,
    Verdict,
    accuracy,
    bins,
    calibration_error,
    judged,
    read_corpus,
    shipped_types,
)
from tickwork.families.classify.model import Classification, DocumentType, Example, classify
from tickwork.families.classify.words import words_of
from tickwork.shipped import MIGRATIONS

TYPES = shipped_types(MIGRATIONS)
KEYS = {
    *("lease", "invoice", "utility_settlement", "land_register", "purchase_contract", "bank_statement"),
    *("insurance_policy", "energy_certificate", "meeting_minutes", "reminder", "termination", "tax_notice"),
    *("handover_protocol", "quotation", "other"),
}
ODD = Path(__file__).parent / "odd"
TRAINING = Path(__file__).parents[3] / "infra/classifier/training"


@pytest.fixture(scope="module")
def verdicts() -> list[Verdict]:
    return judged(read_corpus(HELD_OUT), TYPES)


def odd_words(doc_type: str) -> list[list[str]]:
    return [words_of(each.text, each.name) for each in read_corpus(ODD) if each.doc_type == doc_type]


def answer(text: str, name: str = "scan.pdf", types: list[DocumentType] = TYPES) -> Classification:
    return classify(words_of(text, name), types)


def test_every_type_has_at_least_8_held_out_documents(verdicts: list[Verdict]) -> None:
    counts = {key: sum(each.sample.doc_type == key for each in verdicts) for key in KEYS}

    assert {type.key for type in TYPES} == KEYS == {each.sample.doc_type for each in verdicts}
    assert min(counts.values()) >= 8
    assert counts["other"] >= 20


def test_no_held_out_document_is_trained_on() -> None:
    held_out, training = ({" ".join(each.text.split()) for each in read_corpus(at)} for at in (HELD_OUT, TRAINING))

    assert len(training) > 100
    assert not held_out & training


def test_documents_it_has_not_seen_get_their_type(verdicts: list[Verdict]) -> None:
    assert accuracy(verdicts) >= 0.95


@pytest.mark.parametrize("doc_type", sorted(KEYS))
def test_no_type_is_left_behind(verdicts: list[Verdict], doc_type: str) -> None:
    own = [each for each in verdicts if each.sample.doc_type == doc_type]

    assert accuracy(own) >= 0.85


def test_confidence_is_as_high_as_the_share_of_right_answers(verdicts: list[Verdict]) -> None:
    sure = [each for each in verdicts if each.answer.confidence >= 0.9]

    assert calibration_error(verdicts) <= 0.05
    assert accuracy(sure) >= 0.95


def test_confidence_falls_with_accuracy_when_half_of_the_evidence_is_missing() -> None:
    # As with documents of strangers, who put things in other words than those who wrote down the evidence.
    verdicts = [each for seed in range(4) for each in judged(read_corpus(HELD_OUT), halved(TYPES, seed))]
    guessed = [each for each in verdicts if not each.is_right and each.answer.doc_type != "other"]

    assert accuracy(verdicts) >= 0.85
    assert calibration_error(verdicts) <= 0.04
    assert len(guessed) / len(verdicts) <= 0.03


def halved(types: list[DocumentType], seed: int) -> list[DocumentType]:
    def is_kept(term: str) -> bool:
        return term == "*" or Random(f"{seed} {term.strip('^')}").random() < 0.5

    return [
        DocumentType(each.key, each.node, {term: weight for term, weight in each.evidence.items() if is_kept(term)})
        for each in types
    ]


def test_calibration_error_is_the_gap_between_confidence_and_accuracy() -> None:
    sample = Sample("lease", "", "")
    half_right = [
        Verdict(sample, Classification(key, 0.95, None, ())) for key in ["lease", "lease", "invoice", "invoice"]
    ]

    assert calibration_error(half_right) == pytest.approx(0.45)
    assert [(each.answers, each.accuracy) for each in bins(half_right)] == [(4, 0.5)]


def test_below_the_threshold_it_says_other_rather_than_guess() -> None:
    torn = [DocumentType(key, key, {"paper": 1.0}) for key in ("lease", "invoice", "reminder")]

    answered = answer("A paper.", types=[*torn, DocumentType("other", "inbox", {})])

    assert (answered.doc_type, answered.suggested_node) == ("other", "inbox")
    assert answered.confidence < 0.5


@pytest.mark.parametrize("text", ["", "   \n\n", "4711 0815 12,50", "§§§ *** ^^^", "\ud800\x00", "qwrtz " * 9000])
def test_what_says_nothing_is_other(text: str) -> None:
    assert answer(text, name="").doc_type == "other"


def test_it_says_why() -> None:
    answered = answer("Mietvertrag über Wohnraum\nDie Nettokaltmiete beträgt 455 Euro, die Kaution 1.365 Euro.")

    assert answered.doc_type == "lease"
    assert answered.suggested_node == "tenancies/leases"
    assert "mietvertrag" in answered.reasons
    assert len(answered.reasons) <= 5


def test_the_name_of_the_file_counts() -> None:
    text = "Objekt Seestraße 40, wie besprochen."

    assert answer(text, name="Kündigung_Mietvertrag.pdf").doc_type == "termination"
    assert answer(text, name="scan.pdf").doc_type == "other"


@pytest.mark.parametrize(
    "written",
    ["Kündigung", "Kuendigung", "KÜNDIGUNG", "Ku\u0308ndigung", "Kundigung", "Kündi-\ngung", "K Ü N D I G U N G"],
)
def test_a_word_is_known_however_it_is_written(written: str) -> None:
    assert words_of(written) == ["^kundigung"]


@pytest.mark.parametrize(
    ("misread", "meant"), [("Rechnunq", "rechnung"), ("ZähIer", "zahler"), ("PRÄMlE", "pramie"), ("B0den", "boden")]
)
def test_what_a_scanner_misread_is_healed(misread: str, meant: str) -> None:
    assert words_of(misread) == [f"^{meant}"]


def test_a_long_text_is_read_as_far_as_it_is_needed() -> None:
    words = words_of("Mietvertrag Wohnung Hauptstraße Leipzig " * 100_000, "scan.pdf")

    assert len(words) == 600


def test_annexes_do_not_change_what_a_document_is() -> None:
    lease = next(each for each in read_corpus(TRAINING) if each.name == "Mietvertrag lang.pdf")
    annexes = "\n".join(each.text for each in read_corpus(TRAINING) if each.doc_type == "invoice")

    assert answer(f"{lease.text}\n\n{annexes}").doc_type == "lease"


def test_corrections_make_later_answers_right() -> None:
    first, *later = odd_words("invoice")

    before = {classify(words, TYPES).doc_type for words in later}
    after = [classify(words, TYPES, [Example("invoice", first)]) for words in later]

    assert before == {"other"}
    assert {each.doc_type for each in after} == {"invoice"}


def test_a_type_of_the_tenants_own_can_be_taught_by_examples_alone() -> None:
    types = [*TYPES, DocumentType("chimney_notice", "property/chimney", {})]
    documents = odd_words("chimney_notice")
    examples = [Example("chimney_notice", words) for words in documents[:3]]

    assert "chimney_notice" not in {classify(words, types).doc_type for words in documents}
    assert [classify(words, types, examples).doc_type for words in documents[3:]] == ["chimney_notice"] * 2


def test_corrections_leave_other_kinds_of_document_alone(verdicts: list[Verdict]) -> None:
    types = [*TYPES, DocumentType("chimney_notice", "property/chimney", {})]
    examples = [Example("chimney_notice", words) for words in odd_words("chimney_notice")]

    changed = [
        each.sample.name
        for each in verdicts
        if classify(words_of(each.sample.text, each.sample.name), types, examples).doc_type != each.answer.doc_type
    ]

    assert changed == []


def test_corrections_that_confirm_what_was_known_do_not_drown_another_kind_from_the_same_sender() -> None:
    job = "Sanitär Falk, Objekt Seestraße 40, Waschtisch, Einhebelmischer, Eckventil, Montage, Silikonfuge, Entsorgung"
    bill = words_of(f"Rechnung Nr. 12\n{job}\nRechnungsbetrag 812,00, zahlbar ohne Abzug", "a.pdf")
    offer = words_of(f"Angebot Nr. 11\n{job}\nAngebotssumme 812,00, gültig bis 30.06.", "b.pdf")

    taught = classify(offer, TYPES, [Example("invoice", bill)] * 50)

    assert classify(bill, TYPES).doc_type == "invoice"
    assert taught.doc_type == "quotation"
    assert taught.confidence == pytest.approx(classify(offer, TYPES).confidence, abs=0.05)


def test_a_correction_to_a_type_that_is_gone_is_ignored() -> None:
    words = odd_words("invoice")

    assert classify(words[1], TYPES, [Example("no_longer_there", words[0])]) == classify(words[1], TYPES)


def test_the_command_prints_accuracy_and_calibration() -> None:
    printed = subprocess.run([*COMMAND, "classifier"], capture_output=True, text=True, check=True).stdout

    assert "accuracy" in printed.splitlines()[0]
    assert "expected calibration error" in printed.splitlines()[0]
    assert "utility_settlement" in printed
    assert "answers  confidence  accuracy" in printed


def test_it_needs_nothing_but_the_standard_library() -> None:
    loads = "import tickwork.families.classify.model, tickwork.families.classify.words"
    loaded = f"import sys; old = set(sys.modules); {loads}; print(*(set(sys.modules) - old))"

    modules = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=True).stdout.split()

    assert {each.split(".")[0] for each in modules} - set(sys.stdlib_module_names) == {"tickwork"}
