import { Button, Heading, Hr, Link, Text } from "@react-email/components";
import { type CSSProperties, Fragment, type ReactNode } from "react";
import { color, font } from "./theme.ts";

interface Children {
  readonly children: ReactNode;
}

/** What the mail says, in one line. */
export function Title({ children }: Children) {
  return (
    <Heading as="h1" className="title ink" style={styles.title}>
      {children}
    </Heading>
  );
}

/** A heading within the mail. */
export function Subtitle({ children }: Children) {
  return (
    <Heading as="h2" className="soft" style={styles.subtitle}>
      {children}
    </Heading>
  );
}

export function Paragraph({ children }: Children) {
  return (
    <Text className="ink" style={styles.paragraph}>
      {children}
    </Text>
  );
}

/** A smaller line beside the point: validity, origin, what to do if it was not you. */
export function Note({ children }: Children) {
  return (
    <Text className="soft" style={styles.note}>
      {children}
    </Text>
  );
}

/** A few short lines one below the other: an address. */
export function Lines({ lines }: { readonly lines: readonly string[] }) {
  return (
    <Text className="ink" style={styles.paragraph}>
      {lines.map((line, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a line is its place; texts repeat
        <Fragment key={index}>
          {index > 0 ? <br /> : null}
          {line}
        </Fragment>
      ))}
    </Text>
  );
}

export function Rule() {
  return (
    <Hr className="line" style={{ borderColor: color.line, borderWidth: "1px 0 0", margin: "32px 0" }} />
  );
}

/** The one thing to do. */
export function Action({ href, children }: Children & { readonly href: string }) {
  return (
    <Button className="button" href={href} style={styles.button}>
      {children}
    </Button>
  );
}

/** A link that may be long: shown whole, so that it can be read before it is followed, and broken anywhere. */
export function PlainLink({ href }: { readonly href: string }) {
  return (
    <Link className="link" href={href} style={styles.plainLink}>
      {href}
    </Link>
  );
}

/** A table of data, for screen readers and the text part too. The first column is text, the others are figures. */
export function Table({ label, head, rows, foot = [], dir = "ltr" }: TableProps) {
  return (
    <table
      aria-label={label}
      data-text-format="dataTable"
      cellPadding={0}
      cellSpacing={0}
      style={styles.table}
    >
      <thead>
        <tr>
          {head.map((name, column) => (
            <th className="soft line" key={name} scope="col" style={cell(column, styles.head, dir)}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((cells, row) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a row is its place; texts repeat
          <Row cells={cells} dir={dir} key={row} style={styles.cell} />
        ))}
        {foot.map((cells, row) => (
          <Row
            cells={cells}
            dir={dir}
            key={cells[0]}
            style={row === foot.length - 1 ? styles.total : styles.sum}
          />
        ))}
      </tbody>
    </table>
  );
}

interface TableProps {
  /** What the table shows, for those who cannot see it. */
  readonly label: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Sums below the rows; the last one is the total. */
  readonly foot?: readonly (readonly string[])[];
  /** Which way the mail is written. Default: from left to right. */
  readonly dir?: Direction;
}

type Direction = "ltr" | "rtl";

interface RowProps {
  readonly cells: readonly string[];
  readonly dir: Direction;
  readonly style: CSSProperties;
}

function Row({ cells, dir, style }: RowProps) {
  return (
    <tr>
      {cells.map((text, column) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a cell is its column; texts repeat
        <td className="ink line" key={column} style={cell(column, style, dir)}>
          {text}
        </td>
      ))}
    </tr>
  );
}

/** Sides by name: Outlook does not know `start` and `end`. */
function cell(column: number, style: CSSProperties, dir: Direction): CSSProperties {
  const [start, end, padding] =
    dir === "ltr"
      ? (["left", "right", "paddingLeft"] as const)
      : (["right", "left", "paddingRight"] as const);
  if (column === 0) return { ...style, textAlign: start };
  return { ...style, textAlign: end, whiteSpace: "nowrap", [padding]: "16px" };
}

const styles = {
  title: {
    color: color.ink,
    fontFamily: font.title,
    fontSize: "29px",
    fontWeight: 400,
    lineHeight: "37px",
    margin: "0 0 16px",
  },
  subtitle: {
    color: color.soft,
    fontSize: "13px",
    fontWeight: 600,
    lineHeight: "20px",
    margin: "32px 0 6px",
  },
  paragraph: { color: color.ink, fontSize: "16px", lineHeight: "26px", margin: "0 0 20px" },
  note: { color: color.soft, fontSize: "14px", lineHeight: "22px", margin: "0 0 12px" },
  button: {
    backgroundColor: color.accent,
    borderRadius: "5px",
    color: color.onAccent,
    fontSize: "16px",
    fontWeight: 600,
    lineHeight: "24px",
    margin: "8px 0 24px",
    padding: "12px 26px",
    textDecoration: "none",
  },
  plainLink: { color: color.accent, overflowWrap: "anywhere", textDecoration: "underline" },
  table: {
    borderCollapse: "collapse",
    fontVariantNumeric: "tabular-nums",
    margin: "8px 0 28px",
    width: "100%",
  },
  head: {
    borderBottom: `1px solid ${color.line}`,
    color: color.soft,
    fontSize: "13px",
    fontWeight: 400,
    lineHeight: "20px",
    padding: "8px 0",
  },
  cell: {
    borderBottom: `1px solid ${color.line}`,
    color: color.ink,
    fontSize: "15px",
    lineHeight: "22px",
    padding: "12px 0",
    verticalAlign: "top",
  },
  sum: { color: color.ink, fontSize: "15px", lineHeight: "22px", padding: "10px 0 0" },
  total: { color: color.ink, fontSize: "17px", fontWeight: 600, lineHeight: "24px", padding: "12px 0 0" },
} as const satisfies Record<string, CSSProperties>;
