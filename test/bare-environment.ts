/**
 * All that a process started by a test knows of the environment of the tests: where programs are, and where the run keeps
 * what V8 has compiled. Nothing that a developer has set decides what a test finds.
 */
export const bareEnvironment: NodeJS.ProcessEnv = {
  PATH: process.env.PATH,
  ...(process.env.NODE_COMPILE_CACHE ? { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE } : {}),
};
