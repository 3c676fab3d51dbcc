// The respondent's page around the questionnaire: its language, direction and title are those of the questionnaire.

document.addEventListener("deniable-language", ({ detail: { language, direction, title } }) => {
  Object.assign(document.documentElement, { lang: language, dir: direction });
  document.title = document.querySelector("h1").textContent = title;
});
