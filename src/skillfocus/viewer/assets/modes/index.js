// The modes of the page, in the order of their tabs. A new mode is a file beside this one and a line
// in this list.

import { agentMode } from "./agent.js";
import { chainMode } from "./chain.js";
import { skillMode } from "./skill.js";

/** @import { Mode } from "./mode.js" */

/** @type {Mode[]} */
export const MODES = [skillMode, chainMode, agentMode];

/** The mode of a name, if there is one. @param {string | null} name */
export function findMode(name) {
  return MODES.find((mode) => mode.name === name);
}
