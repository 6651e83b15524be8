import type { PosthasteConfig } from "../config.ts";
import type { PublishedTemplate } from "../database/store.ts";
import type { Log } from "../log.ts";
import { loadTemplates, type TemplateCatalog } from "../templates/load.ts";

/** Loads the configured templates and logs how many there are and which are broken, with `watch` also why, and after each reload. */
export async function loadCatalog(
  config: PosthasteConfig,
  log: Log,
  watch: boolean,
  onReload: () => void,
  importing: (template: string) => () => void = () => () => undefined,
): Promise<TemplateCatalog> {
  const tell = (catalog: TemplateCatalog) => {
    const count = catalog.list().length;
    log("templates_loaded", { count });
    if (count === 0) log("templates_missing", { place: config.emails });
    for (const { name, shown, broken } of catalog.list())
      if (broken !== null) {
        const reason = watch ? { reason: broken } : {};
        log("template_broken", { template: name, place: placeIn(broken) ?? shown, ...reason });
      }
  };
  const catalog = await loadTemplates(config.emails, {
    watch,
    importing,
    onReload: () => {
      tell(catalog);
      onReload();
    },
  });
  tell(catalog);
  return catalog;
}

/** What a worker tells the database about its templates. */
export function published(catalog: TemplateCatalog): PublishedTemplate[] {
  return catalog.list().map(({ name, version, required, types, secrets, onUnknownOutcome }) => ({
    name,
    version,
    required,
    types,
    secrets,
    on_unknown_outcome: onUnknownOutcome,
  }));
}

/** Of what is said about a broken template only where it is: the rest may quote what it holds. */
function placeIn(broken: string): string | null {
  return /^[^\s:]+:\d+(?::\d+)?(?=: )/.exec(broken)?.[0] ?? null;
}
