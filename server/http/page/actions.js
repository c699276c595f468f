// What is done from a banner to all of weir: it is said first, and done by the user's own rights.
import {$, show} from "./dom.js";
import {ask} from "./api.js";

const WORDS = {
  shadow: "Every limit decides and counts as it does now, and denies nobody, whatever the policies say. " +
    "What is denied in shadow is counted apart.",
  on: "Limits deny again what they have no permits for.",
};
const TITLES = {shadow: "All limiting in shadow", on: "Limiting on"};

let wanted = null;
let done = () => {};

export const titleOf = (limiting) => TITLES[limiting];

// Asks before `CONFIG SET limiting` is run.
export function setLimiting(limiting) {
  wanted = ["CONFIG", "SET", "limiting", limiting];
  $("action-title").textContent = TITLES[limiting];
  $("action-words").textContent = WORDS[limiting];
  $("action-command").textContent = wanted.join(" ");
  show("action-outcome");
  $("action").showModal();
}

async function perform() {
  try {
    const [reply] = await ask([wanted]);
    if (reply.error) return show("action-outcome", reply.error);
    $("action").close();
    done();
  } catch (error) {
    show("action-outcome", error.message);
  }
}

// `after` is called when something has been done.
export function begin(after) {
  done = after;
  $("action-cancel").addEventListener("click", () => $("action").close());
  $("action-do").addEventListener("click", perform);
}
