import { plainTextSelectors } from "@react-email/render";
import { compile } from "html-to-text";

/**
 * Makes the text part from the HTML part: `toPlainText` of React Email, with its rules compiled once instead of for
 * each mail, which is two thirds of its time.
 */
export const toPlainText: (html: string) => string = compile({
  wordwrap: false,
  selectors: plainTextSelectors,
});
