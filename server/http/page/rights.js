// What the user may do, which weir says beforehand: what needs a right that he has not is shown as such, and cannot be
// pressed. A right may come and go at any time, so weir says it again when something is done.
import {h} from "./dom.js";

const known = new Map();  // the words of a command -> whether the user may run it
const keyOf = (words) => JSON.stringify(words);
const shortly = (words) => words.slice(0, words[0] === "CONFIG" ? 3 : 2).join(" ");

export const SET_LIMITING = ["CONFIG", "SET", "limiting", "on"];
export const setPolicy = (name) => ["RL.POLICY", "SET", name, "1/1s"];
export const deletePolicy = (name) => ["RL.POLICY", "DEL", name];

// Another user has other rights.
export const forget = () => known.clear();

export const questions = (commands) => commands.map((words) => ["MAY", ...words]);
export const answered = (commands, replies) => commands.forEach((words, i) => known.set(keyOf(words), replies[i] === 1));

// What nobody has asked of is shown as possible.
export const may = (words) => known.get(keyOf(words)) ?? true;

// A button that runs such a command in the end.
export const button = (words, said, click, attributes = {}) => {
  const lacks = !may(words);
  return h("button", {...attributes, type: "button", click, disabled: lacks, title: lacks ? `This user may not run ${shortly(words)}` : null}, said);
};

// A sentence beside buttons, for who cannot press one of them; null: there is nothing to say.
export const lacking = (...commands) => {
  const missing = commands.filter((words) => !may(words)).map(shortly);
  return missing.length === 0 ? null : h("span", {class: "lacking"}, `This user may not run ${[...new Set(missing)].join(" and ")}.`);
};
