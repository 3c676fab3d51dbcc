"""The dashboard as HTML: filters reach every card and download, refusals give reasons, publishing and closing work."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from deniable_protocol import parse_survey, publish, survey_from_tree
from deniable_server import create_app, editing
from deniable_server.settings import Settings
from deniable_server.simulate import Population, simulate_directly
from deniable_server.storage import Storage
from tests.helpers.drafts import new_draft
from tests.helpers.servers import storage_of
from tests.helpers.sign_in import enter, word_in

DASHBOARD = "/surveys/campus-health"


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory, example: bytes) -> Iterator[Flask]:
    app = create_app(Settings(database=str(tmp_path_factory.mktemp("dashboard") / "a.db")))
    storage = storage_of(app)
    storage.publish(example)
    answered(storage, "campus-health", 3_000, seed=1)
    yield app
    storage.close()


def answered(storage: Storage, survey: str, respondents: int, seed: int) -> None:
    published = storage.find(survey)
    assert published is not None
    population = Population(published.document.survey, seed)
    simulate_directly(storage, published, population, respondents, lambda done: None)


@pytest.fixture
def http(app: Flask) -> FlaskClient:
    return signed_in(app)


def signed_in(app: Flask) -> FlaskClient:
    http = app.test_client()
    enter(http, app, "admin")
    return http


class Reader(HTMLParser):
    """What a page says and links to; its tags must close in order."""

    VOID = frozenset({"meta", "link", "input", "br", "hr", "img"})

    def __init__(self, page: TestResponse) -> None:
        super().__init__()
        self.open: list[str] = []
        self.links: list[str] = []
        self.ids: list[str] = []
        self.words: list[str] = []
        self.feed(page.text)
        self.close()
        assert self.open == []
        assert len(set(self.ids)) == len(self.ids), "an id stands twice"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        assert len(values) == len(attrs)
        self.links += [value for value in [values.get("href")] if value]
        self.ids += [value for value in [values.get("id")] if value]
        if tag not in self.VOID and not self.get_starttag_text().endswith("/>"):  # type: ignore[union-attr]
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


def shown(http: FlaskClient, path: str, status: int = 200) -> Reader:
    page = http.get(path)
    assert page.status_code == status, page.text
    return Reader(page)


# --- results ---------------------------------------------------------------------------------------------------------


def test_every_question_has_a_card(http: FlaskClient, app: Flask, example: bytes) -> None:
    """Each card has the text, the number in words, how many were asked, what fakes could do, and a table."""
    page = shown(http, DASHBOARD)
    published = storage_of(app).find("campus-health")
    assert published is not None
    for question in published.document.survey.questions:
        assert question.text in page.text
        assert f"q-{question.id}" in page.ids
    assert len(re.findall(r"[\d,]+ of 3,000 respondents were asked", page.text)) == 9
    assert len(re.findall(r"between [\d.,]+%? and [\d.,]+%?", page.text)) >= 8
    assert page.text.count("false submissions could move") == 8  # what they do to shares among some is not known
    assert re.search(r"worth as much as [\d,]+ unprotected answers", page.text)


def test_questions_are_in_the_order_of_the_survey(http: FlaskClient, app: Flask) -> None:
    """One below the other; a follow-up is marked, and says which answer it follows on and how many it applies to."""
    page = shown(http, DASHBOARD)
    asked = [name.removeprefix("q-") for name in page.ids if name.startswith("q-")]
    published = storage_of(app).find("campus-health")
    assert published is not None
    assert asked == [question.id for question in published.document.survey.questions]
    assert "Asked after “Yes” to “Have you vaped in the last 30 days?”." in page.text
    html = http.get(DASHBOARD).text
    assert re.findall(r'class="card question follows depth-1" aria-labelledby="q-(\w+)"', html) == ["how_often"]


@pytest.mark.parametrize("query", ["", "?by=campus", "?by=campus&weight:campus:north=70&weight:campus:south=30"])
def test_all_shares_are_on_one_axis(http: FlaskClient, query: str) -> None:
    """Bars of all questions, of everybody and of groups, have the same ticks, and so have all scales."""
    html = http.get(f"{DASHBOARD}{query}").text
    axes = re.findall(r'<ul class="rows (bars|stacks).*?</ul><div class="axis">(.*?)</div>', html, re.DOTALL)
    ticks = {
        kind: {tuple(re.findall(">([^<]+)</text>", axis)) for each, axis in axes if each == kind} for kind, _ in axes
    }
    assert {kind: len(found) for kind, found in ticks.items()} == {"bars": 1, "stacks": 1}
    assert [kind for kind, _ in axes].count("bars") == 6 and next(iter(ticks["bars"]))[0] == "0"


def test_the_dashboard_reads_no_submission(http: FlaskClient, app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    """Results, groups and planned cross-tabs come from the counts: what the page costs does not grow with them."""

    def read(*given: object) -> None:
        raise AssertionError("submissions were read")

    monkeypatch.setattr(storage_of(app), "submissions", read)
    monkeypatch.setattr(storage_of(app), "stored", read)
    assert "Planned cross-tabs" in shown(http, f"{DASHBOARD}?by=campus&confidence=0.8765").text


def test_false_submissions_and_method_are_behind_the_number(http: FlaskClient) -> None:
    """Each card has one place to open, with the number asked, what fakes could do, the method and the tables."""
    html = http.get(DASHBOARD).text
    behind = re.findall(r'<details id="about-(\w+)".*?</details>', html, re.DOTALL)
    assert len(behind) == 9 + 1  # and what is said about the survey
    outside = re.sub(r'<details id="about-.*?</details>', "", html, flags=re.DOTALL)
    for words in ("could move", "limits that are valid", "respondents were asked", "Standard error"):
        assert words in html and words not in outside, words


def test_a_print_says_what_is_shown(http: FlaskClient) -> None:
    """What heads every printed page: whose answers, split, weights, how many, how sure, and the day."""
    page = shown(http, f"{DASHBOARD}?where=campus:north&confidence=0.9")
    assert re.search(
        r"Only “Which campus\?” North · 90% intervals · .*as of [\d-]{10} \(UTC\) · [\d,]+ submissions", page.text
    )
    weighted = shown(http, f"{DASHBOARD}?by=campus&weight:campus:north=70&weight:campus:south=30")
    of = "All submissions · split by “Which campus?” · weighted to “Which campus?” · 95% intervals"
    assert re.search(rf"{re.escape(of)} · .* · 3,000 submissions", weighted.text)


def test_planned_cross_tabs_are_offered_by_name(http: FlaskClient) -> None:
    """The menu names each, and its link keeps the filter."""
    page = shown(http, f"{DASHBOARD}?where=campus:north&confidence=0.9&by=campus")
    (link,) = [link for link in page.links if "/crosstab?" in link]
    assert parse_qs(urlsplit(link).query) == {
        "rows": ["vaped"], "columns": ["stress"], "where": ["campus:north"], "confidence": ["0.9"],
    }  # fmt: skip
    assert http.get(link).status_code == 200


def test_epsilon_is_said_once(http: FlaskClient) -> None:
    """What one respondent spends, and what that means; no question has an epsilon of its own."""
    text = shown(http, DASHBOARD).text
    assert text.count("ε") == 1 and "ε = 2 per person: what that means" in text and text.count("at most 37%") == 1


def test_a_follow_up_says_whom_it_applies_to(http: FlaskClient) -> None:
    """Its shares are of those, and the card says what part of all people these are."""
    text = shown(http, DASHBOARD).text
    card = text[text.index("How often do you vape?") :]
    # With so few answers it may be too noisy to say.
    assert re.search(r" (Applies to|How many it applies to is) ", card[: card.index("respondents were asked")])
    assert re.search("among those: |Too noisy to say", card) and "were asked, if it applied to them." in card


def test_shares_of_those_who_answered(http: FlaskClient) -> None:
    """Where people may decline, the shares among the others are there too."""
    text = shown(http, DASHBOARD).text
    harassed = text[text.index("Have you been harassed") : text.index("What did you use most")]
    assert re.search(r"Yes: .*\. Of those who answered: ", harassed)
    substance = text[text.index("What did you use most") : text.index("Which kinds of support")]
    assert re.search(r"Of those who answered: Nothing: .* Something else: ", substance)
    assert "In percent of those who answered" in substance


def test_planned_cross_tabs_are_on_the_dashboard(http: FlaskClient) -> None:
    """The pairs of ``together`` are shown as tables, filtered and weighted as the rest, with the numbers that the page
    of the cross-tab has; that page links to them.
    """
    page = shown(http, f"{DASHBOARD}?where=campus:north&confidence=0.9")
    planned = page.text[page.text.index("Planned cross-tabs") :]
    assert "Have you vaped in the last 30 days? and How stressed have you felt this month?" in planned
    assert "with 90% intervals" in planned and "χ²" in planned
    page = shown(http, f"{DASHBOARD}/crosstab")
    assert f"{DASHBOARD}/crosstab?rows=vaped&columns=stress" in page.links
    weights = "weight=campus:north:70&weight=campus:south:30"
    page = shown(http, f"{DASHBOARD}?{weights}")
    (link,) = [link for link in page.links if "crosstab?rows=vaped&columns=stress" in link]
    table = r"All [\d.]+% \([^A-Z]*"  # the totals of the columns
    (weighted,) = re.findall(table, page.text[page.text.index("Planned cross-tabs") :])
    own = shown(http, link).text
    assert own.index(weighted) > own.index("Weighted: shares of each row")
    assert weighted not in shown(http, DASHBOARD).text


def test_a_page_reads_the_status_once(http: FlaskClient, app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    """The badge and the estimates of one page cannot contradict each other. It is read with all that results depend on,
    and besides only by those who look whether the answer is known.
    """
    read, storage = [], storage_of(app)
    for name in ("status", "state", "results_from"):
        monkeypatch.setattr(
            storage, name, lambda survey, name=name: read.append(name) or getattr(type(storage), name)(storage, survey)
        )
    shown(http, f"{DASHBOARD}?confidence=0.8123")  # which nobody has asked for yet
    assert read == ["state", "state"]
    shown(http, f"{DASHBOARD}?confidence=0.8123")
    assert read == ["state", "state", "state"]


def test_filters_reach_every_card_and_download(http: FlaskClient) -> None:
    """Numbers are those of the interface for programs with the same filter, which the downloads carry on."""
    query = "where=campus:north&confidence=0.9&by="
    page = shown(http, f"{DASHBOARD}?{query}")
    estimates = http.get(f"/api/v1{DASHBOARD}/estimates?where=campus:north&confidence=0.9").json
    n = f"{estimates['submissions']:,}"
    for question in estimates["questions"]:
        assert f"{question['answers']:,} of {n} respondents were asked" in page.text
    assert f"{n} submissions from North" in page.text
    downloads = [link for link in page.links if "/estimates" in link]
    assert len(downloads) == 2
    for link in downloads:
        # As the page of an open survey shows it.
        asked = {"where": ["campus:north"], "confidence": ["0.9"], "anytime": ["1"], "distribution": ["1"]}
        assert parse_qs(urlsplit(link).query) == asked
    table = csv.DictReader(io.StringIO(http.get(downloads[0]).text))
    rows = list(table)
    assert {row["where"] for row in rows} == {"campus:north"} and {row["confidence"] for row in rows} == {"0.9"}
    assert {row["epsilon"] for row in rows} == {"2.0"}
    assert {row["answer_text"] for row in rows if row["question"] == "vaped"} == {"Yes", "No"}
    yes = next(row for row in rows if (row["question"], row["answer"]) == ("vaped", "yes"))
    about, _, limits = yes["written"].partition(" ")
    assert about in page.text and limits.strip("()").replace(" to ", "–") in page.text
    assert {(row["survey"], row["question_text"]) for row in rows if row["question"] == "stress"} == {
        ("campus-health", "How stressed have you felt this month?")
    }
    (method,) = {row["method"] for row in rows if row["question"] == "drinks"}
    assert method.startswith("bands ") and method.endswith(
        "; limits that are valid at every look (a confidence sequence)"
    )


def test_no_text_of_a_survey_is_a_formula(http: FlaskClient, app: Flask) -> None:
    """Text that a spreadsheet would compute gets an apostrophe in the table; other texts are as they are."""
    option = '{{ code = "{}", text = "{}" }}'
    options = ", ".join(option.format(*pair) for pair in (("a", "=1+1"), ("b", "@x"), ("c", "5 - 3")))
    asked = f'[[questions]]\nid = "q"\ntype = "choice"\ntext = "+cmd"\nepsilon = 1\noptions = [{options}]\n'
    storage_of(app).publish(publish(parse_survey(f'id = "formulas"\ntitle = "=1"\n{asked}')))
    rows = list(csv.DictReader(io.StringIO(http.get("/api/v1/surveys/formulas/estimates.csv").text)))
    assert [row["answer_text"] for row in rows] == ["'=1+1", "'@x", "5 - 3"]
    assert {row["question_text"] for row in rows} == {"'+cmd"}


def test_groups_and_weights_are_shown(http: FlaskClient) -> None:
    """Split by a segment, every card shows its groups; with weights, the weighted number is next to the other."""
    page = shown(http, f"{DASHBOARD}?by=campus&weight:campus:north=70,0&weight:campus:south=30")
    # In the charts: a line per group below each bar or mean, and of a scale a bar per group. Yes and no share one.
    bars = 1 + 2 + 3 + 6 + 4 + 1 + 1 + 1 + 6
    assert len(re.findall(r"North \([\d,]+\)", page.text.split("About these results")[0])) >= bars
    assert page.text.count("Weighted: ") == 9
    assert "one submission counts" in page.text
    weights = [parse_qs(urlsplit(link).query)["weight"] for link in page.links if "estimates.csv" in link]
    assert weights == [["campus:north:70,0", "campus:south:30"]]
    table = http.get(next(link for link in page.links if "estimates.csv" in link)).text
    assert {row["weights"] for row in csv.DictReader(io.StringIO(table))} == {"campus:north:0.7 campus:south:0.3"}


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("where=campus:west", "where takes segment:code"),
        ("where=foo", "where takes segment:code"),
        ("confidence=2", "confidence takes"),
        ("weight:campus:north=70", "need a share for south"),
        ("population=10", "population is smaller"),
    ],
)
def test_what_cannot_be_shown_is_said(http: FlaskClient, query: str, said: str) -> None:
    """A wrong filter gets its reason on the page, with the form still there to put it right."""
    page = shown(http, f"{DASHBOARD}?{query}", 422)
    assert said in page.text and "Confidence" in page.text


def test_a_survey_without_answers_says_so(http: FlaskClient, app: Flask) -> None:
    """No number, no axis, no error: every card says that there are no answers yet, and the page where the link is."""
    storage_of(app).publish(publish(parse_survey(SMALL.replace("SMALL", "empty"))))
    page = shown(http, "/surveys/empty")
    assert "0 submissions" in page.text and page.text.count("No answers yet") >= 2
    assert "Send people the link" in page.text and page.links.count("/surveys/empty/share") == 2  # and the tab
    for path in ("/surveys/empty/compare", "/surveys/empty/crosstab?rows=a&columns=b"):
        assert http.get(path).status_code == 200


def test_too_few_answers_are_too_noisy_to_say(http: FlaskClient, app: Flask) -> None:
    """With five submissions the page claims no number."""
    storage_of(app).publish(publish(parse_survey(SMALL.replace("SMALL", "few"))))
    answered(storage_of(app), "few", 5, seed=3)
    assert "too noisy to say" in shown(http, "/surveys/few").text.lower()


def test_an_unchanged_page_is_not_sent_again(http: FlaskClient) -> None:
    """The page that follows itself gets 304 until something changes."""
    first = http.get(DASHBOARD)
    again = http.get(DASHBOARD, headers={"If-None-Match": first.headers["ETag"]})
    assert again.status_code == 304 and not again.data
    other = http.get(f"{DASHBOARD}?confidence=0.9", headers={"If-None-Match": first.headers["ETag"]})
    assert other.status_code == 200


# --- comparisons and cross-tabs --------------------------------------------------------------------------------------


def test_comparison_and_crosstab_say_what_the_interface_says(http: FlaskClient) -> None:
    """Groups of a segment, and pairs of answers, in words, chart and table."""
    page = shown(http, f"{DASHBOARD}/compare?question=vaped&by=campus")
    assert "North − South" in page.text and "All differences in words" in page.text
    page = shown(http, f"{DASHBOARD}/crosstab?rows=vaped&columns=campus")
    assert "Have you vaped in the last 30 days? and Which campus?" in page.text and "χ²" in page.text


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("compare?question=vaped&by=campus&with=other", "either by"),
        ("compare?question=vaped&by=campus&where=foo", "where takes segment:code"),
        ("compare?question=vaped&by=campus&where=campus:north", "fewer than two groups"),
        ("crosstab?rows=vaped&columns=vaped", "two different"),
        ("crosstab?rows=drinks&columns=vaped", "has a mean and no shares"),
        ("crosstab?rows=debt&columns=vaped", 'together = [["debt", "vaped"]]'),
    ],
)
def test_what_cannot_be_related_is_said(http: FlaskClient, path: str, said: str) -> None:
    """The reason is shown above the form."""
    assert said in shown(http, f"{DASHBOARD}/{path}", 422).text


# --- publishing and closing ------------------------------------------------------------------------------------------

SMALL = """
id = "SMALL"
title = "A small survey"

[[questions]]
id = "a"
type = "yes_no"
text = "Is <b>this</b> so?"
epsilon = 1.0

[[questions]]
id = "b"
type = "yes_no"
text = "And that?"
epsilon = 1.0
"""


def drafted(http: FlaskClient, raw: bytes, path: str = "/surveys/new", **fields: str) -> TestResponse:
    """A survey file, chosen on the page for a new survey or on the one of a draft."""
    data = {"word": word_in(http.get(path)), "start": "file", **fields, "file": (io.BytesIO(raw), "survey.toml")}
    response = http.post(path, data=data, headers={"Accept": "text/html"})
    response.request.environ["wsgi.input"].close()  # the test client keeps a large form in a file, and leaves it open
    return response


def test_the_plan_of_a_survey_warns_before_it_is_published(http: FlaskClient) -> None:
    """Warnings first, then the plan in words, margins and booklets, and the button. What other ε and other designs need
    comes after it.
    """
    text = SMALL.replace("SMALL", "warned").replace("epsilon = 1.0\n", "")
    text = text.replace('title = "', 'epsilon = 4.5\nrespondents = 20\ntogether = [["a", "b"]]\ntitle = "')
    page = http.get(f"{drafted(http, text.encode()).location}/publish").text
    places = [
        page.index(words)
        for words in (
            "With 20 respondents every result is uncertain by more than 10 points",
            "ε = 4.5 in total protects people only weakly.",
            "With 20 respondents you will know each share within about",
            'this&lt;/b&gt; so?</span> × <span dir="auto">And that?</span> (each cell; ±5)',
            "The booklets and their probabilities",
            "at the address <code>/s/warned</code>",
            '<button type="submit">Publish</button>',
            "Margins by respondents",
            "What other designs need",
            'ε, sum</th><th scope="col" class="number">Advanced</th><th scope="col" class="number">Exact</th>',
            "the sum, and two bounds",
            "With rotation each person answers one wave",
            "If submissions are shuffled",
        )
    ]
    assert places == sorted(places)


def test_what_is_published_is_what_was_planned(http: FlaskClient, app: Flask) -> None:
    """Looking at the plan publishes nothing. After that, exactly what the file says is published, with the ε that each
    question has.
    """
    text, storage = SMALL.replace("SMALL", "from-file"), storage_of(app)
    begun = drafted(http, text.replace("\n", "\r\n").encode())
    page = http.get(f"{begun.location}/publish")
    assert page.status_code == 200 and "4,997" in page.text and "37%" in page.text
    assert "Is &lt;b&gt;this&lt;/b&gt; so?" in page.text and storage.find("from-file") is None
    done = http.post(f"{begun.location}/publish", data={"word": word_in(page), "version": "1"})
    assert done.status_code == 303 and done.location == "/surveys/from-file/share?new=1"
    found = storage.find("from-file")
    assert found is not None and found.document.survey == parse_survey(text)


@pytest.mark.parametrize(
    ("raw", "status", "said"),
    [
        (b"\xef\xbb\xbf" + SMALL.replace("SMALL", "with-mark").encode(), 303, "with-mark"),
        (SMALL.replace("A small survey", "Über").encode("latin-1"), 422, "not text in UTF-8"),
        (b"# " + b"x" * 999_000 + SMALL.replace("SMALL", "large").encode(), 303, "large"),
        (b"x" * 1_000_001, 413, "too large"),
    ],
)
def test_files_of_other_makes(http: FlaskClient, app: Flask, raw: bytes, status: int, said: str) -> None:
    """A byte order mark is left out, another encoding is refused rather than guessed, and size has its limit: for a new
    draft, and for one whose text is replaced. What is refused changes nothing.
    """
    storage = storage_of(app)
    draft, known = new_draft(storage), {each.number for each in storage.drafts.all()}
    begun = drafted(http, raw)
    replaced = drafted(http, raw, f"/drafts/{draft}/file", version="1")
    kept = storage.drafts.find(draft)
    assert kept is not None
    made = [each for each in storage.drafts.all() if each.number not in known | {draft}]
    assert begun.status_code == replaced.status_code == status
    if status == 303:
        assert {editing.read(each.content).id for each in (*made, kept)} == {said} and len(made) == 1
    else:
        assert said in begun.text and said in replaced.text and made == [] and kept.version == 1


def test_every_error_is_shown_at_once(http: FlaskClient, app: Flask) -> None:
    """Of a file that is to replace a draft, each with its place. The text of the file is there to be corrected."""
    path = f"/drafts/{new_draft(storage_of(app))}/file"
    broken = SMALL.replace("epsilon = 1.0", "epsilon = true").replace('type = "yes_no"', "type = 1", 1)
    page = drafted(http, broken.encode(), path, version="1")
    assert page.status_code == 422
    for place in ("questions[0].type", "questions[0].epsilon", "questions[1].epsilon"):
        assert f"<code>{place}</code>" in page.text
    text = re.search(r'<textarea id="text"[^>]*>\n(.*?)</textarea>', page.text, re.DOTALL)
    assert text is not None and unescape(text[1]) == broken


def test_results_that_are_held_back(http: FlaskClient, app: Flask) -> None:
    """The form holds results back from every page until there are enough submissions; the page says until when."""
    storage = storage_of(app)
    page = http.get(f"{DASHBOARD}/hold")
    known = sum(storage.days(storage.find("campus-health")).values())  # type: ignore[arg-type]
    for form, shown_now, said in (
        ({"until": "number", "number": f"{known + 1:,}"}, False, f"{known + 1:,} submissions. It has {known:,} now"),
        ({"until": "closed"}, False, "held back until it is closed."),
        ({"until": "number", "number": str(known)}, True, ""),
        ({"until": "now"}, True, ""),
    ):
        assert http.post(f"{DASHBOARD}/hold", data={**form, "word": word_in(page)}).status_code == 303
        for path in ("", "/compare?question=vaped&by=campus", "/crosstab?rows=vaped&columns=campus"):
            response = http.get(f"{DASHBOARD}{path}")
            assert response.status_code == (200 if shown_now else 403) and said in response.text
            assert ("<figure" in response.text) == shown_now
    for wrong in ("", "-1", "many", "1" * 13):
        refused = http.post(f"{DASHBOARD}/hold", data={"until": "number", "number": wrong, "word": word_in(page)})
        assert refused.status_code == 422 and "whole number" in refused.text


def test_closing_asks_first(http: FlaskClient, app: Flask) -> None:
    """The page says what closing does; confirming it closes the survey, and the dashboard says so."""
    storage = storage_of(app)
    storage.publish(publish(parse_survey(SMALL.replace("SMALL", "to-close"))))
    page = http.get("/surveys/to-close/close")
    assert "for good" in page.text and storage.surveys()[-1].status == "open"
    assert http.post("/surveys/to-close/close", data={"word": word_in(page)}).status_code == 303
    assert {one.id: one.status for one in storage.surveys()}["to-close"] == "closed"
    assert "already closed" in http.get("/surveys/to-close/close").text
    assert "closed" in shown(http, "/").text


# --- weight ----------------------------------------------------------------------------------------------------------


def test_a_page_of_twenty_questions_is_light(tmp_path: Path) -> None:
    """It stays under 200 kB, uncompressed; split, and with all that it loads, under 400 kB."""
    options = [{"code": f"o{i}", "text": f"A rather wordy option number {i} of this question"} for i in range(12)]
    kinds = [
        {"type": "yes_no"},
        {"type": "choice", "options": options, "decline": True},
        {"type": "multi_choice", "options": options},
        {"type": "scale", "labels": ["Never", "Rarely", "Sometimes", "Often", "Always"]},
        {"type": "number", "min": 0, "max": 100, "unit": "EUR", "price": True},
    ]
    questions = [
        {"id": f"q{i}", "text": f"What about the matter of number {i}?", "epsilon": 1.0, **kinds[i % 5]}
        for i in range(20)
    ]
    segment = {"id": "campus", "text": "Which campus?", "options": options[:3]}
    app = create_app(Settings(database=str(tmp_path / "a.db")))
    storage_of(app).publish(
        publish(survey_from_tree({"id": "large", "title": "Large", "segments": [segment], "questions": questions}))
    )
    answered(storage_of(app), "large", 300, seed=5)
    http = signed_in(app)
    page = http.get("/surveys/large")
    loaded = re.findall(r'(?:href|src)="(/static/[^"]+)"', page.text)
    assert page.status_code == 200 and len(loaded) == 5
    assert len(page.data) < 200_000
    split = http.get("/surveys/large?by=campus")
    assert len(split.data) + sum(len(http.get(link).data) for link in loaded) < 400_000
    storage_of(app).close()
