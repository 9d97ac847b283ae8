"""Signing in and out, and what keeps other sites out."""

from uuid import uuid4

import pytest

from tests.console.conftest import Viewers
from tests.servers.scripted import Answer, scripted
from tests.world.api import member_of, user_token
from tests.world.console import OWN_PAGE, Browser, console_of


def test_whoever_is_not_signed_in_sees_nothing_but_the_way_in(viewers: Viewers) -> None:
    seen = viewers.nobody.get("/jobs", status="dead")

    assert seen.status == 303
    assert seen.headers["Location"] == "/console/sign-in?next=%2Fconsole%2Fjobs%3Fstatus%3Ddead"


def test_a_user_signs_in_with_a_token(viewers: Viewers) -> None:
    user = member_of(viewers.world, viewers.acme)
    browser = fresh(viewers)

    seen = browser.post("/sign-in", credential=user_token(user), next="/console/jobs")

    assert seen.status == 200
    assert "Jobs" in seen.text
    assert browser.get("/jobs").status == 200


def test_a_key_signs_in_until_it_is_revoked(viewers: Viewers) -> None:
    created = viewers.world.service.keys.create_api_key("console", ["read"], viewers.acme)
    browser = fresh(viewers)

    assert browser.post("/sign-in", credential=created["key"], next="/console/jobs").status == 200
    viewers.world.service.keys.revoke_api_key(created["id"])

    assert browser.get("/jobs").status == 303


@pytest.mark.parametrize("credential", ["", "tw_" + "x" * 43, "a.b.c", "nonsense", "é" * 40])
def test_nobody_signs_in_with_what_is_not_theirs(viewers: Viewers, credential: str) -> None:
    browser = fresh(viewers)

    assert browser.post("/sign-in", credential=credential).status == 403
    assert browser.get("/jobs").status == 303


def test_a_link_signs_in_once_and_only_after_a_click(viewers: Viewers) -> None:
    user = member_of(viewers.world, viewers.acme)
    code = viewers.world.value("select create_sign_in_link(%s)", user)
    first, second = fresh(viewers), fresh(viewers)

    assert "signs you in once" in first.get("/sign-in", code=code).text
    assert first.get("/jobs").status == 303
    first.post("/sign-in", code=code)
    second.post("/sign-in", code=code)

    assert first.get("/jobs").status == 200
    assert second.get("/jobs").status == 303


def test_a_link_ends(viewers: Viewers) -> None:
    code = viewers.world.value("select create_sign_in_link(%s, 60)", uuid4())
    viewers.world.run("update tickwork.sign_in_links set expires_at = now() - interval '1 second'")

    assert "used, or is too old" in fresh(viewers).post("/sign-in", code=code).text


def test_a_session_is_not_a_users_token_and_the_other_way_round(viewers: Viewers) -> None:
    user = member_of(viewers.world, viewers.acme)
    browser = fresh(viewers)
    browser.client.set_cookie("tickwork-session", user_token(user))

    assert browser.get("/jobs").status == 303
    assert fresh(viewers).post("/sign-in", credential=session_value(viewers.member)).status == 403


@pytest.mark.parametrize(
    "wanted",
    ["https://evil.example/", "//evil.example/", "/console/\\evil.example", "/consoleevil", "javascript:1"],
)
def test_signing_in_leads_to_no_other_site(viewers: Viewers, wanted: str) -> None:
    user = member_of(viewers.world, viewers.acme)
    form = {"credential": user_token(user), "next": wanted}

    response = fresh(viewers).client.post("/console/sign-in", data=form, headers=OWN_PAGE)

    assert response.headers["Location"] == "/console/"


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "none"},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site", "Origin": "http://localhost"},
    ],
)
def test_forms_of_other_sites_are_refused(viewers: Viewers, headers: dict[str, str]) -> None:
    assert viewers.admin.post("/sign-out", headers=headers).status == 403
    assert viewers.admin.get("/jobs").status == 200


def test_an_old_browser_names_the_origin(viewers: Viewers) -> None:
    assert fresh(viewers).post("/sign-out", headers={"Origin": "http://localhost"}).status == 200


def test_the_cookie_is_bound_to_the_host_where_there_is_tls(viewers: Viewers) -> None:
    form = {"credential": user_token(member_of(viewers.world, viewers.acme))}
    headers = {**OWN_PAGE, "X-Forwarded-Proto": "https"}

    response = fresh(viewers).client.post("/console/sign-in", data=form, headers=headers)

    cookie = response.headers["Set-Cookie"]
    assert cookie.startswith("__Host-tickwork-session=")
    assert {"Secure", "HttpOnly", "Path=/", "SameSite=Strict"} <= set(cookie.split("; "))


def test_every_page_says_what_it_may_load_and_who_may_frame_it(viewers: Viewers) -> None:
    for seen in (viewers.nobody.get("/sign-in"), viewers.member.get("/jobs"), viewers.member.get("/nothing")):
        policy = seen.headers["Content-Security-Policy"]
        nonce = policy.partition("'nonce-")[2].partition("'")[0]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert seen.headers["X-Frame-Options"] == "DENY"
        assert seen.html.count(f'<script nonce="{nonce}"') == seen.html.count("<script") == 3


def test_a_setting_lets_other_pages_frame_it(viewers: Viewers) -> None:
    with console_of(viewers.world, TICKWORK_CONSOLE_FRAME_ANCESTORS="https://app.example.com") as nobody:
        seen = nobody.get("/sign-in")

    assert "frame-ancestors https://app.example.com;" in seen.headers["Content-Security-Policy"]
    assert "X-Frame-Options" not in seen.headers


def test_the_console_lives_under_another_path(viewers: Viewers) -> None:
    with console_of(viewers.world, TICKWORK_CONSOLE_PATH="/ops/queue") as nobody:
        seen = nobody.sign_in(member_of(viewers.world, viewers.acme)).get("/jobs")
        assert nobody.client.get("/console/jobs").status_code == 404

    assert 'href="/ops/queue/jobs"' in seen.html
    assert "/console/" not in seen.html


def test_the_same_page_is_not_sent_twice(viewers: Viewers) -> None:
    first = viewers.member.get("/preferences")
    headers = {"If-None-Match": first.headers["ETag"]}

    again = viewers.member.client.get("/console/preferences", headers=headers)

    assert again.status_code == 304
    # With another nonce, the scripts of the page that the browser has kept would not run.
    assert "Content-Security-Policy" not in again.headers


def test_a_user_signs_in_with_a_password_that_supabase_checks(viewers: Viewers) -> None:
    user = member_of(viewers.world, viewers.acme)
    with scripted() as auth:
        issuer = auth.url
        auth.answers = [
            Answer(400, {"code": 400, "error_code": "invalid_credentials", "msg": "Invalid login credentials"}),
            Answer(429, {"code": 429, "error_code": "over_request_rate_limit", "msg": "Request rate limit reached"}),
            Answer(500, {"code": 500, "msg": "Internal"}),
            Answer(200, {"access_token": user_token(uuid4(), iss="https://evil.example"), "token_type": "bearer"}),
            Answer(200, {"access_token": user_token(user, iss=issuer), "token_type": "bearer", "expires_in": 3600}),
        ]
        with console_of(viewers.world, TICKWORK_CONSOLE_AUTH_KEY="anon", TICKWORK_JWT_ISSUER=issuer) as browser:
            form = {"email": "ada@example.com", "password": "hunter2", "next": "/console/jobs"}
            seen = [browser.client.post("/console/sign-in", data=form, headers=OWN_PAGE) for _ in range(5)]
            assert browser.get("/jobs").status == 200

    assert [each.status_code for each in seen] == [403, 403, 403, 403, 303]
    for response, words in zip(seen, ("is wrong", "too many", "cannot be reached", "refused"), strict=False):
        assert words in response.get_data(as_text=True)
    sent = auth.requests[0]
    assert sent.path == "/api/v1/token?grant_type=password"
    assert sent.headers["apikey"] == "anon"
    assert sent.body == {"email": "ada@example.com", "password": "hunter2"}


def fresh(viewers: Viewers) -> Browser:
    """A browser with no cookies."""
    return Browser(type(viewers.nobody.client)(viewers.nobody.client.application), viewers.nobody.settings)


def session_value(browser: Browser) -> str:
    cookie = browser.client.get_cookie("tickwork-session")
    assert cookie is not None
    return cookie.value
