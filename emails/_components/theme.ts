/** Whose mail it is: change these lines, and every template follows. */
export const brand = {
  name: "Hollis & Reed",
  line: "Stationery and writing tools",
  url: "https://shop.example",
  support: "help@shop.example",
  postal: "Hollis & Reed, 12 Harbour Street, Bristol BS1 4RN",
} as const;

/** The light palette is written into the elements, where every mail client reads it. Contrast is 4.5 : 1 or more. */
export const color = {
  paper: "#f4f1ea",
  sheet: "#ffffff",
  ink: "#1f1d1a",
  soft: "#6a645a",
  line: "#e4dfd4",
  tint: "#f7f5f0",
  accent: "#1d5b49",
  onAccent: "#ffffff",
  alarm: "#a3301c",
} as const;

export const font = {
  text: "-apple-system, BlinkMacSystemFont, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif",
  title: "Georgia, 'Times New Roman', serif",
  code: "ui-monospace, SFMono-Regular, Menlo, Consolas, 'Liberation Mono', monospace",
} as const;

/** Dark palette and phone sizes: class names that override what is written into the elements. */
export const css = `
:root { color-scheme: light dark; supported-color-schemes: light dark; }
@media (max-width: 600px) {
  .outer { padding: 0 !important; }
  .sheet { padding: 28px 24px 32px !important; border-radius: 0 !important; }
  .foot { padding: 24px 24px 32px !important; }
  .title { font-size: 25px !important; line-height: 32px !important; }
  .code { font-size: 38px !important; letter-spacing: 6px !important; }
  .button { display: block !important; text-align: center !important; }
}
@media (prefers-color-scheme: dark) {
  .paper { background-color: #151412 !important; }
  .sheet { background-color: #1f1e1b !important; }
  .ink { color: #f1ede4 !important; }
  .soft { color: #b0a99c !important; }
  .line { border-color: #38352f !important; }
  .tint { background-color: #292722 !important; }
  .link { color: #93cfb8 !important; }
  .button { background-color: #93cfb8 !important; color: #10231c !important; }
  .alarm { color: #f0907b !important; }
}
`;
