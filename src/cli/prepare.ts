// What must be in place before anything else is loaded; run-program.ts imports it first.
import { registerHooks } from "node:module";

// React decides on its development build, twice as slow, when it is first imported.
process.env.NODE_ENV ??= "production";
// PostGraphile asks for this one, and says on stderr when it is not there.
process.env.GRAPHILE_ENV ??= process.env.NODE_ENV === "development" ? "development" : "production";

// A configuration that lies outside every install of the package (or below another package.json) cannot
// find the package by its own name. It then gets the one that runs; where it finds one, that one stands.
const self = import.meta.resolve("posthaste");
registerHooks({
  resolve(specifier, context, next) {
    if (specifier !== "posthaste") return next(specifier, context);
    try {
      return next(specifier, context);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ERR_MODULE_NOT_FOUND") throw error;
      return { url: self, shortCircuit: true };
    }
  },
});
