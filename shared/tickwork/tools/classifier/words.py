"""What the classifier sees of a document: its words in reading order, normalized, with headings marked."""

import re
import unicodedata
from collections.abc import Iterable

# The type of an element and its text, as an extraction stores them.
Piece = tuple[str, str]
TITLE = "Title"

HEADING = "^"
MAX_TEXT_LENGTH = 20_000
MAX_WORDS = 800
MAX_HEADING_WORDS = 24
MAX_NAME_WORDS = 8
MAX_WORD_LENGTH = 40

TOKEN = re.compile(r"§+\s*\d+|[^\W_]+")
# But not "Außen-" and "und Innenbereich" on two lines.
HYPHENATED = re.compile(r"(?<=[a-zäöüß])[-\u00ad]\s*\n\s*(?=[a-zäöüß])(?!(?:und|oder|bzw|sowie|and|or)\b)")
SPACED_OUT = re.compile(r"\b(?:\w ){3,}\w\b")
INNER_CAPITAL = re.compile(r"(?<=[a-zäöüß])(?=[A-ZÄÖÜ])")
# Typical OCR errors: ZähIer, VERSlCHERUNG, Rechnunq, B0den.
MISREAD = [
    (re.compile(r"(?<=[A-Za-zÄÖÜäöüß])I(?=[a-zäöüß])"), "l"),
    (re.compile(r"(?<=[A-ZÄÖÜ])l(?=[A-ZÄÖÜ])"), "I"),
    (re.compile(r"q(?!u)"), "g"),
    (re.compile(r"\|"), "l"),
]
DIGITS_AS_LETTERS = str.maketrans("015", "ois", "2346789")
# So that ü, ue and an ü that lost its dots are the same.
UMLAUTS = re.compile("([aou])e")

IN_EVERY_LETTER = """
    ab aber alle allen aller alles als also am an and are as at auch auf aus be been bei beim bis by can da damit
    dann das dass dem den der des deren dessen die dies diese diesem diesen dieser dieses do does dort du durch ein
    eine einem einen einer eines er es etwa for from fuer fur ganz gegen had has have haben hat hatte he her hier
    his how ich if ihm ihn ihnen im in ins is ist it its je jede jeden jeder kann kein keine koennen konnen man mehr
    mein meine meinem meinen meiner mich mir mit muss my nach nicht noch nun nur ob oder of on or our sehr sein
    seine seinem seinen seiner seit shall she sich sie sind so soll sollen sollte sondern sowie that the their them
    then there these they this those to um und ueber uber uns unser unsere unserem unseren unserer upon us vom von
    vor waehrend wahrend war waren was we wegen weil welche wenn werden wie wir wird wo wurde wurden would you your
    zu zum zur zwischen about any but could did into may me more no not out should some such than too up very were
    what when which who will with dear geehrte geehrter damen herren herr herrn frau mr mrs ms freundlichen
    freundliche gruss gruesse gruessen grusse grussen sincerely regards kind yours best tag guten datum date euro
    eur telefon phone fax mail email www com strasse str seite page name adresse address pdf jpg docx scan dokument
    document img image januar februar maerz marz april mai juni juli august september oktober november dezember
    january february march june july october december
"""
COMMON = frozenset(UMLAUTS.sub(r"\1", word) for word in IN_EVERY_LETTER.split())


def words_of(pieces: Iterable[Piece], name: str = "") -> list[str]:
    """The words of the file name, then of the text, at most 800. Words of headings begin with ^."""
    spoken_name = INNER_CAPITAL.sub(" ", name.replace("_", " "))
    words = [HEADING + word for word in folded(spoken_name)][:MAX_NAME_WORDS]
    headings_left, text_left = MAX_HEADING_WORDS, MAX_TEXT_LENGTH
    for type, text in pieces:
        # Unwrapped: where a line ends says nothing about the words in it.
        found = folded(healed(text[:text_left]))
        marked = min(len(found), headings_left) if type == TITLE else 0
        words += [HEADING + word for word in found[:marked]] + found[marked:]
        headings_left -= marked
        text_left -= len(text)
        if len(words) >= MAX_WORDS or text_left <= 0:
            break
    return words[:MAX_WORDS]


def healed(text: str) -> str:
    """The text with words repaired that line breaks, letter spacing and OCR have broken."""
    text = HYPHENATED.sub("", unicodedata.normalize("NFC", text))
    text = SPACED_OUT.sub(lambda match: match.group().replace(" ", ""), text)
    for misread, meant in MISREAD:
        text = misread.sub(meant, text)
    return text


def folded(text: str) -> list[str]:
    """Words in lower case without accents; no numbers except those of sections."""
    plain = text.lower()
    if not plain.isascii():
        parts = unicodedata.normalize("NFKD", plain.replace("ß", "ss"))
        plain = "".join(each for each in parts if not unicodedata.combining(each))
    return [word for word in map(folded_word, TOKEN.findall(plain)) if word]


def folded_word(token: str) -> str:
    if token[0] == "§":
        return "§" + token.strip("§ \t\n")
    if not token.isalpha():
        token = token.translate(DIGITS_AS_LETTERS) if sum(map(str.isalpha, token)) > 1 else ""
    return UMLAUTS.sub(r"\1", token)[:MAX_WORD_LENGTH]


def is_telling(word: str) -> bool:
    """Whether a word says something about its document without those around it."""
    return len(word) > 1 and word.removeprefix(HEADING) not in COMMON
