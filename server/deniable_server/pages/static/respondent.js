// The respondent's page around the questionnaire: its language, direction and title are those of the questionnaire.

document.addEventListener("deniable-language", ({ detail: { language, direction, title } }) => {
  Object.assign(document.documentElement, { lang: language, dir: direction });
  document.title = document.querySelector("h1").textContent = title;
  // Which of the sentences about a test run is shown, where there are any.
  const said = [...document.querySelectorAll(".test-run")];
  const own = said.find(({ lang }) => lang === language.split("-")[0]);
  if (own) for (const each of said) each.hidden = each !== own;
});
