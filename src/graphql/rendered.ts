import { resolve } from "node:path";
import type { PgExecutor } from "postgraphile/@dataplan/pg";
import { access, context, loadOne, object, type Step } from "postgraphile/grafast";
import { extendSchema, gql } from "postgraphile/utils";
import type { EmailRow } from "../database/rows.ts";
import { PosthasteError } from "../errors.ts";
import { createIsolation, type RenderedApart } from "../templates/isolation.ts";
import { loadTemplates, type TemplateCatalog } from "../templates/load.ts";
import { column } from "./email-loader.ts";
import { maskedParameters } from "./masked-parameters.ts";
import { safeError } from "./safe-errors.ts";

declare global {
  namespace Grafast {
    interface Context {
      /** Where renderedEmail takes its templates from. Default: the folder `posthaste.emails` of the preset, read once. */
      posthasteTemplates?: () => Promise<TemplateCatalog>;
    }
  }
}

/** Milliseconds that a template may take. The worker's limit is longer, but nobody waits in front of that. */
const RENDER_TIMEOUT = 5000;

/** Who looks at a mail that kills workers must not kill this process. */
const isolation = createIsolation();

const RenderedEmailPlugin: GraphileConfig.Plugin = extendSchema((build) => {
  const executor = build.pgExecutor as PgExecutor;
  const read = (name: string) => ($rendered: Step) => access($rendered, name);
  return {
    typeDefs: gql`
      "A mail as it would be rendered now. Secret parameters show as dots, or as the template's own samples where dots do not fit."
      type RenderedEmail {
        "The subject."
        subject: String
        "The HTML part. Show it in a sandboxed frame."
        html: String
        "The text part."
        text: String
        "The version of the template that it was rendered with."
        templateVersion: String
        "Whether the template has changed since the mail was sent; null when it was not sent."
        templateHasChanged: Boolean
        "Why it cannot be rendered, a word from the table of error codes."
        errorCode: String
        "The same in full, for template authors."
        errorMessage: String
      }

      extend type Email {
        "Operators: the mail as it would be rendered now."
        renderedEmail: RenderedEmail
      }
    `,
    objects: {
      Email: {
        plans: {
          renderedEmail: ($id: Step) => {
            const $row = object({
              template: column(executor, $id, "template"),
              parameters: column(executor, $id, "parameters"),
              locale: column(executor, $id, "locale"),
              template_version: column(executor, $id, "template_version"),
            });
            // The database is done with before rendering begins.
            return loadOne($row as Step<Source>, {
              name: "renderEmails",
              shared: () => (context() as unknown as { get(name: string): Step }).get("posthasteTemplates"),
              load: renderAll,
            });
          },
        },
      },
      RenderedEmail: {
        plans: {
          subject: read("subject"),
          html: read("html"),
          text: read("text"),
          templateVersion: read("templateVersion"),
          templateHasChanged: read("templateHasChanged"),
          errorCode: read("errorCode"),
          errorMessage: read("errorMessage"),
        },
      },
    },
  };
}, "PosthasteRenderedEmailPlugin");

/** Reads the host's templates when they are first needed. */
const TemplatesPlugin: GraphileConfig.Plugin = {
  name: "PosthasteTemplatesPlugin",
  version: "0.0.0",
  grafast: {
    middleware: {
      prepareArgs(next, { args }) {
        const values = args.contextValue as Partial<Grafast.Context>;
        const preset = args.resolvedPreset;
        if (preset) values.posthasteTemplates ??= () => catalogOf(preset);
        return next();
      },
    },
  },
};

/** `Email.renderedEmail`. */
export const RenderedEmailPreset: GraphileConfig.Preset = { plugins: [RenderedEmailPlugin, TemplatesPlugin] };

const catalogs = new WeakMap<GraphileConfig.ResolvedPreset, Promise<TemplateCatalog>>();

function catalogOf(preset: GraphileConfig.ResolvedPreset): Promise<TemplateCatalog> {
  const known = catalogs.get(preset);
  if (known) return known;
  const catalog = loadTemplates(resolve(preset.posthaste?.emails ?? "./emails"));
  catalogs.set(preset, catalog);
  catalog.catch(() => catalogs.delete(preset));
  return catalog;
}

interface RenderedEmail {
  readonly subject?: string;
  readonly html?: string;
  readonly text?: string;
  readonly templateVersion?: string;
  readonly templateHasChanged?: boolean | null;
  readonly errorCode?: string;
  readonly errorMessage?: string;
}

type Source = Pick<EmailRow, "template" | "parameters" | "locale" | "template_version">;

async function renderAll(
  rows: readonly Source[],
  { shared }: { readonly shared: unknown },
): Promise<RenderedEmail[]> {
  const catalog = await (shared as () => Promise<TemplateCatalog>)().catch((cause: unknown) => {
    if (!(cause instanceof PosthasteError)) throw cause;
    throw safeError("The templates cannot be read where this server runs.", { code: "UNAVAILABLE" });
  });
  return Promise.all(rows.map((row) => render(catalog, row)));
}

async function render(
  catalog: TemplateCatalog,
  { template: name, parameters, locale, template_version }: Source,
): Promise<RenderedEmail> {
  const template = catalog.get(name);
  if (!template) {
    const errorMessage = `The emails folder of this process has no template ${JSON.stringify(name)}.`;
    return { errorCode: "template_not_found", errorMessage };
  }
  const options = { locale, timeout: RENDER_TIMEOUT };
  const attempt = (withSamples: boolean): Promise<RenderedApart | null> =>
    isolation.render(template, {
      ...options,
      parameters: maskedParameters(template, parameters, withSamples),
    });
  let rendered = await attempt(false);
  if (rendered?.ok === false && rendered.code === "parameters_invalid" && template.secrets.length > 0)
    rendered = await attempt(true);
  const version = {
    templateVersion: template.version,
    templateHasChanged: template_version === null ? null : template_version !== template.version,
  };
  if (rendered === null) return version;
  return rendered.ok
    ? { ...version, subject: rendered.subject, html: rendered.html, text: rendered.text }
    : { ...version, errorCode: rendered.code, errorMessage: rendered.message };
}
