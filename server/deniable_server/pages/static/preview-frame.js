// Makes the questionnaire of this page a preview: it gets the draft's document, and sends and keeps nothing.

const survey = document.querySelector("deniable-survey");
const { document: published, booklet } = survey.dataset;
survey.preview = { document: published, booklet: booklet === undefined ? undefined : Number(booklet) };
