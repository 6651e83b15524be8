/** What the frame of a mail says, in one language. */
export interface FrameWords {
  /** BCP 47, for screen readers and translators. */
  readonly lang: string;
  readonly dir: "ltr" | "rtl";
  /** Before the address to write to. */
  readonly questions: string;
}

export const FRAME = {
  en: { lang: "en", dir: "ltr", questions: "Questions? Write to" },
  de: { lang: "de", dir: "ltr", questions: "Fragen? Schreiben Sie an" },
  ar: { lang: "ar", dir: "rtl", questions: "أسئلة؟ اكتب إلى" },
} as const satisfies Record<string, FrameWords>;

/** The words of a reader's language: `de-CH` reads those of `de`, and who reads none of them the first ones. */
export function wordsFor<Words>(
  languages: Readonly<Record<string, Words>>,
  locale: string | undefined,
): Words {
  const [first] = Object.values(languages);
  for (let tag = locale ?? ""; tag !== ""; tag = tag.slice(0, Math.max(tag.lastIndexOf("-"), 0))) {
    const words = languages[tag];
    if (words) return words;
  }
  return first as Words;
}
