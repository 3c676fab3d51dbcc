"""People with access: what a token for some surveys opens and what it does not, the page People, and Activity."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from deniable_protocol import publish, survey_from_tree
from deniable_server.errors import Unavailable
from deniable_server.storage import Role
from deniable_server.storage.tokens import make_token
from deniable_server.web.auth import may_edit
from tests.helpers.draft_pages import begin, number_in
from tests.helpers.drafts import new_draft
from tests.helpers.servers import storage_of
from tests.helpers.sign_in import BROWSER, enter, send, word_in

A, B = "campus-health", "other"
TOML = 'id = "mine"\ntitle = "Mine"\n[[questions]]\nid = "q"\ntype = "yes_no"\ntext = "Q?"\nepsilon = 1\n'
FOR_RESPONDENTS = {"api.get_survey", "submissions.post_submissions", "invitations.post_token", "respondent.survey_page"}
SECRET_TITLE = "Canary of the other survey"
ASKED = {"id": "vaped", "type": "yes_no", "text": "Vaped?", "epsilon": 1}


@pytest.fixture
def app(app: Flask, example: bytes) -> Flask:
    """With a second survey that shares a question with the first, and a title that shows where it is named."""
    storage_of(app).publish(example)
    storage_of(app).publish(publish(survey_from_tree({"id": B, "title": SECRET_TITLE, "questions": [ASKED]})))
    return app


# --- a token for one survey opens nothing of another -----------------------------------------------------------------

Asking = Callable[[str, str], TestResponse]


def by_session(app: Flask, secret: str) -> Asking:
    http = app.test_client()
    assert send(http, "/sign-in", "/sign-in", token=secret).status_code == 303
    word = word_in(http.get("/sign-in"))

    def ask(method: str, path: str) -> TestResponse:
        fields = {"word": word, "person": "zzz", "days": "1", "until": "closed", "step": "publish", "survey": B}
        return http.open(path, method=method, headers=BROWSER, data=fields if method == "POST" else None)

    return ask


def by_bearer(app: Flask, secret: str) -> Asking:
    http = app.test_client()
    headers = {"Authorization": f"Bearer {secret}"}
    return lambda method, path: http.open(path, method=method, headers=headers, json={} if method == "POST" else None)


def addresses(app: Flask, survey: str) -> Iterator[tuple[str, str, str]]:
    """Every route that is not for respondents: its name, a method and an address, of this survey if it has one."""
    for rule in app.url_map.iter_rules():
        if rule.endpoint in FOR_RESPONDENTS or rule.endpoint in ("sign_in.leave", "static_files.logo"):
            continue
        path = re.sub("<.*?>", "zzz", rule.rule.replace("<survey>", survey))
        for method in sorted((rule.methods or set()) - {"HEAD", "OPTIONS"}):
            yield rule.endpoint, method, path


@pytest.mark.parametrize("way", [by_session, by_bearer])
@pytest.mark.parametrize("role", ["reader", "analyst", "editor"])
def test_a_token_for_one_survey_opens_nothing_of_another(
    app: Flask, role: Role, way: Callable[[Flask, str], Asking]
) -> None:
    """Over every route that there is: what is of the other survey is refused, or leads back to the own ones; what is of
    no survey does not name it. Nothing changes in it.
    """
    storage = storage_of(app)
    secret, _ = make_token(storage, role, "Ann", surveys={A: role})
    make_token(storage, "reader", "a link", surveys={B: "reader"})
    ask, before, asked = way(app, secret), (storage.surveys(), len(storage.tokens.all())), 0
    for endpoint, method, path in addresses(app, B):
        response = ask(method, path)
        if B in path:
            asked += 1
            led_away = response.status_code == 303 and (
                B not in response.location or response.location.startswith("/sign-in?")
            )
            assert response.status_code in (401, 403) or led_away, (endpoint, method, response.status_code)
        assert SECRET_TITLE not in response.text and response.status_code < 500, (endpoint, method)
    assert asked >= 30 and (storage.surveys(), len(storage.tokens.all())) == before


@pytest.mark.parametrize("way", [by_session, by_bearer])
@pytest.mark.parametrize("role", ["reader", "analyst", "editor"])
def test_a_test_run_is_for_those_who_may_edit_its_draft(
    app: Flask, role: Role, way: Callable[[Flask, str], Asking]
) -> None:
    """Over every route that there is: a reader of the test run itself, an analyst of all surveys and an editor who did
    not begin the draft are refused, or led elsewhere. Nothing names it, but for what respondents have a link to.
    """
    storage = storage_of(app)
    tree = {"id": "test-run", "title": "Canary of a draft", "questions": [ASKED]}
    storage.publish(publish(survey_from_tree(tree)), draft=new_draft(storage))
    surveys: dict[Role, dict[str, Role] | None] = {"reader": {"test-run": role}, "analyst": None, "editor": {A: role}}
    secret, _ = make_token(storage, role, "Ann", surveys=surveys[role])
    ask, asked = way(app, secret), 0
    for endpoint, method, path in addresses(app, "test-run"):
        response = ask(method, path)
        assert "Canary of a draft" not in response.text and response.status_code < 500, (endpoint, method)
        if "test-run" in path:
            asked += 1
            led_away = response.status_code == 303 and re.search("^/[?]elsewhere=1$|^/sign-in", response.location)
            assert response.status_code in (401, 403) or led_away, (endpoint, method, response.status_code)
    assert asked >= 30
    for path in ("/surveys/{}/compare", "/api/v1/surveys/{}/compare", "/api/v1/surveys/{}/compare.csv"):
        compared = ask("GET", path.format(A) + "?question=vaped&with=test-run")
        assert compared.status_code in (303, 401, 403) and "Canary" not in compared.text
    assert app.test_client().get("/api/v1/surveys/test-run").status_code == 200


@pytest.mark.parametrize("way", [by_session, by_bearer])
@pytest.mark.parametrize("role", ["reader", "analyst"])
def test_a_role_on_a_survey_is_the_role_there(app: Flask, role: Role, way: Callable[[Flask, str], Asking]) -> None:
    """Over every route of a survey, an editor of another one may do what somebody may who has this role on both. On the
    other one they stay its editor.
    """
    storage = storage_of(app)
    mixed, _ = make_token(storage, "editor", "Ann", surveys={A: "editor", B: role})
    plain, _ = make_token(storage, role, "Bob", surveys={A: role, B: role})
    asks = [way(app, mixed), way(app, plain)]
    opened: list[set[tuple[str, str]]] = [set(), set()]
    for endpoint, method, path in addresses(app, B):
        for ask, mine in zip(asks, opened, strict=True):
            if B in path:
                response = ask(method, path)
                led_away = response.status_code == 303 and re.search("elsewhere|^/sign-in", response.location)
                if response.status_code not in (401, 403) and not led_away:
                    mine.add((endpoint, method))
    assert opened[0] == opened[1] and ("fieldwork.times", "GET") not in opened[0]
    if way is by_session:
        assert ("dashboard.overview", "GET") in opened[0]
        assert asks[0]("GET", f"/surveys/{A}/fieldwork").status_code == 200
        refused = asks[0]("GET", f"/surveys/{B}/fieldwork")
        assert f"Your role on this survey is {role}, and this needs the role editor." in refused.text


def test_pages_offer_what_the_role_on_their_survey_allows(http: FlaskClient, app: Flask) -> None:
    """The tabs of a survey, and its card in the list."""
    secret, _ = make_token(storage_of(app), "editor", "Ann", surveys={A: "editor", B: "reader"})
    send(http, "/sign-in", "/sign-in", token=secret)
    listed = http.get("/").text
    assert f"/surveys/{A}/share" in listed and f"/surveys/{B}/share" not in listed and "New survey" in listed
    own, other = (http.get(f"/surveys/{survey}").text for survey in (A, B))
    for tab in ("Progress", "Share", "Fieldwork", "All randomised reports"):
        assert tab in own and tab not in other, tab
    assert "New survey" in other


@pytest.mark.parametrize("role", ["reader", "analyst", "editor"])
def test_what_takes_a_survey_by_name_takes_only_own_ones(http: FlaskClient, app: Flask, role: Role) -> None:
    """Comparisons with another survey, by session and by header, and what the page of comparisons offers."""
    secret = enter(http, app, role, A)
    bearer = {"Authorization": f"Bearer {secret}"}
    for path in (f"/surveys/{A}/compare", f"/api/v1/surveys/{A}/compare", f"/api/v1/surveys/{A}/compare.csv"):
        refused = http.get(f"{path}?question=vaped&with={B}", headers=BROWSER)
        assert refused.status_code == 403 and SECRET_TITLE not in refused.text, path
    assert http.get(f"/api/v1/surveys/{A}/compare?question=vaped&with={B}", headers=bearer).status_code == 403
    assert SECRET_TITLE not in http.get(f"/surveys/{A}/compare").text
    storage_of(app).tokens.grant(storage_of(app).tokens.all()[0].id, B, role)
    assert SECRET_TITLE in http.get(f"/surveys/{A}/compare").text


def test_lists_show_the_own_surveys(http: FlaskClient, app: Flask) -> None:
    """On the page and for programs: those that the token is for, from the moment that access is given."""
    secret = enter(http, app, "analyst", A)
    bearer, (ann,) = {"Authorization": f"Bearer {secret}"}, storage_of(app).tokens.all()

    def listed() -> list[str]:
        return [survey["id"] for survey in http.get("/api/v1/surveys", headers=bearer).json["surveys"]]  # type: ignore[index]

    assert listed() == [A] and SECRET_TITLE not in http.get("/").text
    storage_of(app).tokens.grant(ann.id, B, "analyst")
    assert listed() == [A, B] and SECRET_TITLE in http.get("/").text
    for survey in (A, B):
        storage_of(app).tokens.withdraw(ann.id, survey)
    assert listed() == [] and "No survey is shared with you now" in http.get("/").text


def test_a_reader_of_several_surveys_has_a_list(http: FlaskClient, app: Flask) -> None:
    """It leads to results and to nothing else; other pages lead back to it."""
    enter(http, app, "reader", A, B)
    page = http.get("/").text
    assert f'href="/surveys/{A}"' in page and f'href="/surveys/{B}"' in page
    for hidden in ("/progress", "/share", "/surveys/new", "/drafts", "/sessions"):
        assert hidden not in page, hidden
    assert http.get(f"/surveys/{A}/progress").location == "/?elsewhere=1"


# --- editors ---------------------------------------------------------------------------------------------------------


def test_an_editor_gets_what_it_publishes_and_no_more(http: FlaskClient, app: Flask) -> None:
    """A token for some surveys is for one that it publishes; publishing what others have published gives it nothing, to
    its readers neither.
    """
    secret = enter(http, app, "editor", A)
    headers = {"Authorization": f"Bearer {secret}", "Content-Type": "application/toml"}
    assert http.post("/api/v1/surveys", data=TOML, headers=headers).status_code == 201
    assert http.post("/api/v1/surveys", data=TOML, headers=headers).status_code == 200
    (ann,) = storage_of(app).tokens.all()
    assert ann.surveys == {A: "editor", "mine": "editor"}
    taken = f'id = "{B}"\ntitle = "{SECRET_TITLE}"\nrespondents = 7\n' + TOML.partition("\n")[2].partition("\n")[2]
    taken = taken.replace('"q"', '"vaped"').replace("Q?", "Vaped?")
    assert http.post("/api/v1/surveys", data=taken, headers=headers).status_code == 409
    begun = send(http, "/surveys/new", "/surveys/new", start="file", text=taken)
    page = f"{begun.location}/publish"
    refused = send(http, page, page, version="1")
    assert refused.status_code == 409 and "Another survey has this address already" in refused.text
    assert storage_of(app).tokens.all()[0].surveys == {A: "editor", "mine": "editor"}
    storage_of(app).tokens.grant(ann.id, B, "reader")
    assert http.post("/api/v1/surveys", data=taken, headers=headers).status_code == 409
    assert [survey.expected for survey in storage_of(app).surveys() if survey.id == B] == [None]


def test_drafts_are_for_those_who_may_see_them(app: Flask) -> None:
    """Admins and editors of all surveys see every draft, editors of some their own, others none."""
    storage = storage_of(app)
    made = {
        "admin": make_token(storage, "admin", "x")[1],
        "all": make_token(storage, "editor", "x")[1],
        "some": make_token(storage, "editor", "x", surveys={A: "editor"})[1],
        "analyst": make_token(storage, "analyst", "x")[1],
    }
    assert [may_edit(made[name], "1") for name in ("admin", "all", "some", "analyst")] == [True, True, False, False]
    assert may_edit(made["some"], made["some"].id) and not may_edit(made["some"], None)
    assert not may_edit(made["analyst"], made["analyst"].id)


# --- the page People -------------------------------------------------------------------------------------------------


def secret_in(page: TestResponse) -> str:
    found = re.search(r'aria-label="New access token" value="([\w-]{43})"', page.text)
    assert found is not None, page.text
    return found[1]


def test_an_admin_gives_somebody_access(http: FlaskClient, app: Flask) -> None:
    """The token is shown once, with a sentence to send; it opens what was chosen; the list says who made it."""
    enter(http, app, "admin")
    form = http.get("/people")
    assert 'value="some" checked' in form.text and 'value="all" checked' not in form.text
    word = word_in(form)
    fields = {"word": word, "label": "Zoë", "role": "analyst", "reach": "some", "survey": [A], "days": "30"}
    page = http.post("/people", data=fields, headers=BROWSER)
    secret = secret_in(page)
    assert f"Open http://localhost/sign-in and paste this access token: {secret}" in page.text
    again = http.get("/people").text
    assert secret not in again and "Zoë" in again and "<bdi>test</bdi>" in again
    zoe = app.test_client()
    assert send(zoe, "/sign-in", "/sign-in", token=secret).location == "/"
    assert zoe.get(f"/surveys/{A}").status_code == 200 and zoe.get(f"/surveys/{B}").status_code == 403


def test_somebody_has_another_role_on_another_survey(http: FlaskClient, app: Flask) -> None:
    """A role for all that were chosen, and others on some; if one of these is higher, so is the person's own. Who looks
    again sees what was chosen, and Activity says it.
    """
    enter(http, app, "admin")
    storage = storage_of(app)
    word = word_in(http.get("/people"))
    fields = {"word": word, "label": "Zoë", "role": "analyst", "reach": "some", "survey": [A, B], f"role-{B}": "editor"}
    assert "<bdi>Campus health 2026</bdi> as analyst" in http.post("/people", data=fields, headers=BROWSER).text
    (zoe,) = (token for token in storage.tokens.all() if token.label == "Zoë")
    assert (zoe.role, zoe.surveys) == ("editor", {A: "analyst", B: "editor"})
    again = http.get(f"/people/{zoe.id}").text
    assert again.count("selected") == 1 and '<option value="analyst" selected>as analyst' in again
    path = f"/people/{zoe.id}"
    send(http, path, path, **{"role": "reader", "reach": "some", "survey": B, f"role-{B}": "", f"role-{A}": "editor"})
    (zoe,) = (token for token in storage.tokens.all() if token.label == "Zoë")
    assert (zoe.role, zoe.surveys) == ("reader", {B: "reader"})
    assert said(http)[:2] == [
        f"test (admin) changed the access of Zoë: reader, 1 survey ({B})",
        f"test (admin) gave Zoë access as editor, to 2 surveys ({A} as analyst, {B})",
    ]


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"label": ""}, "Give a name."),
        ({"role": "king"}, "Choose a role"),
        ({"role": "reader"}, "choose at least one"),
        ({"role": "collector"}, "choose one"),
        ({"role": "admin", "reach": "some", "survey": A}, "is for all surveys"),
        ({"reach": "some", "survey": "nothing"}, "Choose at least one survey"),
        ({"days": "0"}, "number of days"),
        ({"days": "x"}, "number of days"),
        ({"label": "a\x1b[31m"}, "without control characters"),
    ],
)
def test_a_token_that_cannot_be_is_not_made(http: FlaskClient, app: Flask, fields: dict[str, str], said: str) -> None:
    """The page says what is missing, and keeps what was typed."""
    enter(http, app, "admin")
    given = {"label": "Zoë", "role": "analyst", "reach": "all", "days": "30"} | fields
    page = send(http, "/people", "/people", **given)
    assert page.status_code == 422 and said in page.text and len(storage_of(app).tokens.all()) == 1
    assert given["label"].startswith("a") or f'value="{given["label"]}"' in page.text


def test_access_is_changed_and_revoked(http: FlaskClient, app: Flask) -> None:
    """The page asks first, and says which links and sessions end; then they do."""
    enter(http, app, "admin")
    storage, ann = storage_of(app), app.test_client()
    enter(ann, app, "analyst", A, B)
    (token,) = (token for token in storage.tokens.all() if token.role == "analyst")
    send(ann, f"/surveys/{B}/share", f"/surveys/{B}/share", days="1", label="the <board>")
    page = http.get("/people").text
    assert "Links that share results (1)" in page and "the &lt;board&gt;" in page
    asks = http.get(f"/people/{token.id}/revoke").text
    assert "1 open session ends with it." in asks and "the &lt;board&gt;" in asks and SECRET_TITLE in asks
    changed = send(http, f"/people/{token.id}", f"/people/{token.id}", role="editor", reach="some", survey=A)
    assert changed.status_code == 303
    assert ann.get(f"/surveys/{B}").status_code == 403 and ann.get("/surveys/new").status_code == 200
    assert not any(each.is_link for each in storage.tokens.all()), "it was a link to what is no longer theirs"
    assert send(http, f"/people/{token.id}/revoke", f"/people/{token.id}/revoke").status_code == 303
    assert ann.get("/").status_code == 303 and len(storage.tokens.all()) == 1
    assert http.get(f"/people/{token.id}").status_code == 404


def test_admins_cannot_shut_themselves_out(http: FlaskClient, app: Flask) -> None:
    """One's own token is neither revoked nor changed, so that an admin is always left; another admin's is."""
    enter(http, app, "admin")
    (own,) = storage_of(app).tokens.all()
    word = word_in(http.get("/people"))
    for path in (f"/people/{own.id}", f"/people/{own.id}/revoke"):
        assert "Another admin can" in http.get(path).text
        refused = http.post(path, data={"word": word, "role": "reader", "survey": A}, headers=BROWSER)
        assert refused.status_code == 400 and storage_of(app).tokens.all() == [own]
    other = app.test_client()
    enter(other, app, "admin")
    assert send(other, f"/people/{own.id}/revoke", f"/people/{own.id}/revoke").status_code == 303
    assert http.get("/").location.startswith("/sign-in")


def test_who_can_see_a_survey(http: FlaskClient, app: Flask) -> None:
    """The page of a survey lists them, gives others a role on it, changes that, and withdraws it."""
    enter(http, app, "admin")
    storage = storage_of(app)
    _, ann = make_token(storage, "analyst", "Ann", surveys={A: "analyst"})
    path = f"/surveys/{B}/access"

    def surveys() -> dict[str, Role] | None:
        return next(token.surveys for token in storage.tokens.all() if token.id == ann.id)

    assert f'<option value="{ann.id}">Ann</option>' in http.get(path).text
    assert send(http, path, path, person=ann.id, role="reader").location == path
    page = http.get(path).text
    assert "Withdraw the access of Ann" in page and "<option selected>reader</option>" in page
    assert surveys() == {A: "analyst", B: "reader"}
    send(http, path, path, person=ann.id, role="editor")
    assert surveys() == {A: "analyst", B: "editor"}
    for role in ("admin", "collector", ""):
        assert send(http, path, path, person=ann.id, role=role).status_code == 400, role
    assert surveys() == {A: "analyst", B: "editor"}
    send(http, path, path, person=ann.id, withdraw="1")
    assert surveys() == {A: "analyst"}
    assert [line.partition(" (admin) ")[2] for line in said(http)[:3]] == [
        f"withdrew the access of Ann to {SECRET_TITLE}",
        f"gave Ann access to {SECRET_TITLE} as editor",
        f"gave Ann access to {SECRET_TITLE} as reader",
    ]


# --- activity --------------------------------------------------------------------------------------------------------


def said(http: FlaskClient, query: str = "") -> list[str]:
    """What the page Activity says, without the times."""
    page = http.get(f"/activity{query}").text
    rows = re.findall(r'<tr><td>[\d :-]{19}</td><td class="long">(.*?)</td><td class="long">(.*?)</td></tr>', page)
    return [re.sub("</?bdi>", "", f"{who} {what}") for who, what in rows]


def test_activity_says_what_people_did(http: FlaskClient, app: Flask) -> None:
    """In plain sentences, the newest first, of one person or one survey; also as a table."""
    enter(http, app, "admin")
    secret, ann = make_token(storage_of(app), "editor", "<Ann>")
    bearer = {"Authorization": f"Bearer {secret}"}
    http.post("/api/v1/surveys", data=TOML, headers=bearer | {"Content-Type": "application/toml"})
    for _ in range(3):
        http.get("/api/v1/surveys/mine/reports.csv", headers=bearer)
    http.post("/api/v1/surveys/mine/hold", json={"until": 70}, headers=bearer)
    http.post("/api/v1/surveys/mine/close", headers=bearer)
    send(http, "/surveys/mine/share", "/surveys/mine/share", days="1", label="=the board")
    send(http, "/people", "/people", label="Bob", role="reader", reach="some", survey="mine")
    send(http, "/surveys/mine/archive", "/surveys/mine/progress", archived="1")
    everything = [
        "test (admin) moved Mine to the archive",
        "test (admin) gave Bob access as reader, to 1 survey (mine)",
        "test (admin) made a link to the results of Mine for =the board",
        "&lt;Ann&gt; (editor) closed Mine",
        "&lt;Ann&gt; (editor) held the results of Mine back until it has 70 answers",
        "&lt;Ann&gt; (editor) downloaded the randomised reports of Mine",
        "&lt;Ann&gt; (editor) published Mine",
        "&lt;Ann&gt; (editor) used the access token in a program",
        "test (admin) signed in",
    ]
    assert said(http) == everything
    assert said(http, f"?token={ann.id}&survey=mine") == everything[3:7]
    table = http.get("/activity.csv").text
    assert table.count("\r\n") == 10 and "closed Mine" in table and "\n=" not in table and ",=" not in table


def test_activity_names_drafts(http: FlaskClient, app: Flask) -> None:
    """By their titles; by their numbers once they are gone."""
    enter(http, app, "admin")
    number = number_in(begin(http, start="file", text=TOML.replace("Mine", "<Mine>")))
    send(http, f"/drafts/{number}/test", f"/drafts/{number}/preview")
    draft = "the draft “&lt;Mine&gt;”"
    assert said(http)[:2] == [f"test (admin) started a test run of {draft}", f"test (admin) began {draft}"]
    send(http, f"/drafts/{number}/delete", f"/drafts/{number}")
    assert said(http)[:3] == [
        f"test (admin) deleted draft {number}",
        f"test (admin) ended the test run of draft {number}, and deleted its answers",
        f"test (admin) started a test run of draft {number}",
    ]


def test_activity_names_what_was_not_published_by_its_draft(
    http: FlaskClient, app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A table that was downloaded of a test run says so, and keeps no title of the draft. Each draft is read once for a
    page, and once for the table, however often it is named.
    """
    enter(http, app, "admin")
    storage = storage_of(app)
    number, other = new_draft(storage), new_draft(storage, title="Other")
    for each in (number, other):
        send(http, f"/drafts/{each}/test", f"/drafts/{each}/preview")
    run = storage.test_run(number)
    assert run is not None
    for what in ("estimates", "reports"):
        http.get(f"/api/v1/surveys/{run.document.survey.id}/{what}.csv")
    assert "Campus health" not in str(storage.activity.newest())
    draft, find, read = "a test run of the draft “Campus health 2026”", storage.drafts.find, []
    monkeypatch.setattr(storage.drafts, "find", lambda number: read.append(number) or find(number))
    assert said(http)[:2] == [
        f"test (admin) downloaded the randomised reports of {draft}",
        f"test (admin) downloaded the estimates of {draft}",
    ]
    assert http.get("/activity.csv").text.count(draft) == 3
    assert sorted(read) == sorted([number, other] * 2)


def test_activity_keeps_the_title_of_the_survey(http: FlaskClient, app: Flask, lines: pytest.LogCaptureFixture) -> None:
    """Of one that was deleted, also when another one has its id later. The log has no title."""
    enter(http, app, "admin")
    bearer = {"Authorization": f"Bearer {enter(app.test_client(), app, 'admin')}", "Content-Type": "application/toml"}
    path = "/surveys/mine"
    http.post("/api/v1/surveys", data=TOML, headers=bearer)
    send(http, f"{path}/share", f"{path}/share", days="1", label="Bob")
    send(http, f"{path}/delete", f"{path}/delete", name="mine")
    http.post("/api/v1/surveys", data=TOML.replace("Mine", "Ours"), headers=bearer)
    assert [line.partition(" (admin) ")[2] for line in said(http, "?survey=mine")] == [
        "published Ours",
        "deleted Mine for good",
        "made a link to the results of Mine for Bob",
        "published Mine",
    ]
    assert "event=survey-deleted" in lines.text and "Mine" not in lines.text


@pytest.mark.parametrize("name", ["token", "survey"])
@pytest.mark.parametrize("wrong", ["%00", "a%00", "%F0%9F%99%82", "%ED%A0%80"])
def test_activity_of_what_cannot_be(http: FlaskClient, app: Flask, name: str, wrong: str) -> None:
    """What no token and no survey can be called is not looked for: PostgreSQL takes no text with a zero in it."""
    enter(http, app, "admin")
    assert said(http, f"?{name}={wrong}") == said(http) == ["test (admin) signed in"]
    assert http.get(f"/activity.csv?{name}={wrong}").text == http.get("/activity.csv").text


def test_activity_goes_back_a_page_at_a_time(http: FlaskClient, app: Flask) -> None:
    """Of 250 deeds each is on one page."""
    enter(http, app, "admin")
    (token,) = storage_of(app).tokens.all()
    for n in range(250):
        app.extensions["deniable"].events.did("survey-closed", token, survey=f"s{n}")
    shown, path = [], "/activity"
    while path:
        page = http.get(path).text
        shown += re.findall(r"closed <bdi>s(\d+)</bdi>", page)
        older = re.search(r'<a href="([^"]*before=[^"]*)">Older', page)
        path = older[1].replace("&amp;", "&") if older else ""
    assert shown == [str(n) for n in reversed(range(250))]


def test_activity_that_cannot_be_kept_is_no_obstacle(
    http: FlaskClient, app: Flask, monkeypatch: pytest.MonkeyPatch, lines: pytest.LogCaptureFixture
) -> None:
    """What somebody does is done even if it cannot be noted in the database; the log has it."""
    secret = enter(http, app, "admin")

    def full(*_: object, **__: object) -> int:
        raise Unavailable("no space")

    monkeypatch.setattr(storage_of(app).activity, "_write", full)
    bearer = {"Authorization": f"Bearer {secret}"}
    assert http.post(f"/api/v1/surveys/{B}/close", headers=bearer).status_code == 200
    assert "event=survey-closed" in lines.text and "could not be kept" in lines.text
    assert "closed" not in " ".join(said(http))


def test_activity_has_nothing_of_respondents(http: FlaskClient, app: Flask, example: bytes) -> None:
    """Neither what they send, nor what a collector sends for them, nor what is refused."""
    secret, _ = make_token(storage_of(app), "collector", "kiosk", surveys={A: "collector"})
    for headers in ({}, {"Authorization": f"Bearer {secret}"}):
        http.get(f"/api/v1/surveys/{A}", headers=headers)
        http.get(f"/s/{A}", headers=BROWSER)
        for body in ({"submissions": []}, {}):
            http.post(f"/api/v1/surveys/{A}/submissions", json=body, headers=headers)
    http.get("/api/v1/surveys", headers={"Authorization": f"Bearer {secret}"})
    assert storage_of(app).activity.newest() == []


def test_every_event_has_a_sentence(http: FlaskClient, app: Flask) -> None:
    """One that a later version adds is still readable."""
    enter(http, app, "admin")
    (token,) = storage_of(app).tokens.all()
    events = app.extensions["deniable"].events
    events.did("survey-painted", token, survey=A)
    events.did("results-held", token, survey=A, until="0")
    events.did("invitations-made", token, survey=A, number="1")
    assert said(http)[:3] == [
        "test (admin) made 1 invitation to Campus health 2026",
        "test (admin) let the results of Campus health 2026 be shown at any time",
        "test (admin) survey painted: Campus health 2026",
    ]
