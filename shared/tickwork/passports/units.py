"""Units by the codes of UN/ECE Recommendation 20, converted by exact decimals."""

import re
from decimal import Decimal
from typing import NamedTuple

from tickwork.passports.reading import Refused, shown


class Unit(NamedTuple):
    """What a unit is written as in facts, and by what its numbers are multiplied."""

    code: str
    factor: Decimal = Decimal(1)


KILO, MILLI = Decimal(1000), Decimal("0.001")
# By code and by the ways that people write them, in lower case and without blanks.
KNOWN: dict[str, Unit] = {
    **dict.fromkeys(("kgm", "kg", "kilogram", "kilograms"), Unit("KGM")),
    **dict.fromkeys(("grm", "g", "gram", "grams"), Unit("KGM", MILLI)),
    **dict.fromkeys(("mgm", "mg", "milligram"), Unit("KGM", MILLI * MILLI)),
    **dict.fromkeys(("tne", "t", "tonne", "tonnes", "metrictonunit", "ton(metric)"), Unit("KGM", KILO)),
    **dict.fromkeys(("kwh", "kilowatthour"), Unit("KWH")),
    **dict.fromkeys(("whr", "wh", "watthour"), Unit("KWH", MILLI)),
    **dict.fromkeys(("mwh", "megawatthour"), Unit("KWH", KILO)),
    **dict.fromkeys(("amh", "ah", "amperehour"), Unit("AMH")),
    **dict.fromkeys(("e09", "mah", "milliamperehour"), Unit("AMH", MILLI)),
    **dict.fromkeys(("wtt", "w", "watt"), Unit("WTT")),
    **dict.fromkeys(("kwt", "kw", "kilowatt"), Unit("WTT", KILO)),
    **dict.fromkeys(("vlt", "v", "volt"), Unit("VLT")),
    **dict.fromkeys(("2z", "mv", "millivolt"), Unit("VLT", MILLI)),
    **dict.fromkeys(("amp", "a", "ampere"), Unit("AMP")),
    **dict.fromkeys(("ohm", "ω", "ohms"), Unit("OHM")),
    **dict.fromkeys(("e45", "mω", "mohm", "milliohm"), Unit("OHM", MILLI)),
    **dict.fromkeys(("mtr", "m", "metre", "meter"), Unit("MTR")),
    **dict.fromkeys(("cmt", "cm", "centimetre", "centimeter"), Unit("MTR", Decimal("0.01"))),
    **dict.fromkeys(("mmt", "mm", "millimetre", "millimeter"), Unit("MTR", MILLI)),
    **dict.fromkeys(("ltr", "l", "litre", "liter"), Unit("LTR")),
    **dict.fromkeys(("mtq", "m3", "m³", "cubicmetre"), Unit("LTR", KILO)),
    **dict.fromkeys(("cel", "°c", "degreecelsius"), Unit("CEL")),
    **dict.fromkeys(("p1", "%", "percent"), Unit("P1")),
    **dict.fromkeys(("59", "ppm", "partpermillion", "partspermillion"), Unit("59")),
    **dict.fromkeys(("c62", "h87", "ea", "pc", "pcs", "piece", "pieces", "one"), Unit("C62")),
    **dict.fromkeys(("ann", "a(year)", "year", "years"), Unit("ANN")),
    **dict.fromkeys(("mon", "month", "months"), Unit("MON")),
    **dict.fromkeys(("day", "days", "d"), Unit("DAY")),
    **dict.fromkeys(("hur", "h", "hour", "hours"), Unit("HUR")),
}
# Of carbon dioxide and what warms like it, for which Recommendation 20 has no code.
CARBON = re.compile(r"(kg|g|t)co(?:2|₂)-?(?:e|eq)?(?:/(kwh|kg|km|unit|piece|l))?")
CARBON_FACTORS = {"kg": Decimal(1), "g": MILLI, "t": KILO}
PER = {"kwh": "/kWh", "kg": "/kg", "km": "/km", "unit": "/unit", "piece": "/unit", "l": "/l", None: ""}


# By their first letter, which must be a small one or a capital: the other one means a million times as much or less.
MILLI_UNITS, MEGA_UNITS = {"mv", "mω", "mohm", "mah", "mg"}, {"mwh"}


def unit_of(name: str) -> Unit:
    """The unit that people or models call so, such as `kg`, `KGM` or `unit:kilogram`."""
    written = re.sub(r"\s", "", name).removeprefix("unit:")
    plain = written.lower()
    is_confused = plain in (MILLI_UNITS if written.startswith("M") else MEGA_UNITS)
    if not is_confused and (found := KNOWN.get(plain)):
        return found
    if carbon := CARBON.fullmatch(plain):
        return Unit(f"kgCO2e{PER[carbon[2]]}", CARBON_FACTORS[carbon[1]])
    raise Refused("UNKNOWN_UNIT", f"{shown(name)} is no unit that can be converted; use a code such as KGM or KWH")
