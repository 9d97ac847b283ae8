"""Rules of battery passports: saved, tested, published, retired."""

from datetime import date

from tickwork.api.fields import ID, JSON_OBJECT, NAME, ROWS, ForTenant, OfTenant, Request, text, whole_number
from tickwork.api.route import Route


def _day(value: str) -> str:
    try:
        return date.fromisoformat(value).isoformat()
    except ValueError:
        raise ValueError("must be a day such as 2027-02-18") from None


DAY = text(10, min_length=10, after=_day)
# Numbers of JSON are exact up to here.
SEED = whole_number(-(2**53) + 1, 2**53 - 1)


class Save(ForTenant):
    package = NAME
    version = NAME
    dsl_source = JSON_OBJECT
    tests_source = JSON_OBJECT.or_null()
    valid_from = DAY.or_null()


class List(OfTenant):
    package = NAME.or_null()
    max_rows = ROWS.or_else(50)


class OfRules(Request):
    rule_package_version_id = ID


class Test(OfRules):
    seed = SEED.or_null()


class Runs(OfRules):
    max_rows = ROWS.or_else(50)


ROUTES = (
    Route("GET", "rules", "list_rules", List, "rows"),
    Route("POST", "rules", "save_rules", Save),
    Route("GET", "rules/{rule_package_version_id}", "get_rules", OfRules),
    Route("GET", "rules/{rule_package_version_id}/tests", "list_rule_tests", Runs, "rows"),
    Route("POST", "rules/{rule_package_version_id}/tests", "request_rule_tests", Test),
    Route("POST", "rules/{rule_package_version_id}/publish", "publish_rules", OfRules),
    Route("POST", "rules/{rule_package_version_id}/retire", "retire_rules", OfRules),
)
