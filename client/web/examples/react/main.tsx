import { StrictMode, useState } from "react";
import { createRoot } from "react-dom/client";
import type { Receipt } from "deniable";
import "deniable/react";

// Outside of the component: a new object at each render would restart the questionnaire.
const texts = { button: { send: "Send it" } };

function Survey() {
  const [receipt, setReceipt] = useState<Receipt | null>(null);
  return (
    <main>
      <deniable-survey
        src="https://survey.example.org/s/campus-health"
        texts={texts}
        budget={20}
        ondeniable-submitted={(event) => setReceipt(event.detail.receipt)}
      >
        <p>The survey is loading. If it does not appear, please load this page again.</p>
      </deniable-survey>
      {receipt && <p id="thanks">Thank you. Submission {receipt.id}.</p>}
    </main>
  );
}

createRoot(document.querySelector("#app")!).render(<StrictMode><Survey /></StrictMode>);
