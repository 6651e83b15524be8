import { type SpawnSyncOptions, spawnSync } from "node:child_process";

/** Runs apt-get; whether that went well. False where there is none, or it is not root's process. */
export function apt(args: readonly string[], options: SpawnSyncOptions = {}): boolean {
  if (process.getuid?.() !== 0) return false;
  // Another test file may be at it, and a service of a package must not start: RUNLEVEL says that the system is not up.
  const settings = ["-q", "--yes", "-o", "APT::Sandbox::User=root", "-o", "DPkg::Lock::Timeout=120"];
  const { status } = spawnSync("apt-get", [...settings, ...args], {
    stdio: "ignore",
    timeout: 300_000,
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive", RUNLEVEL: "1" },
    ...options,
  });
  return status === 0;
}

/** Does something with a Debian package, at the second try with a new list of what there is. */
export function aptWithNewList(args: readonly string[], options?: SpawnSyncOptions): boolean {
  return apt(args, options) || (apt(["update"]) && apt(args, options));
}

/** Installs a package of Debian's or Ubuntu's; whether it is there now. */
export function installDebianPackage(name: string): boolean {
  return aptWithNewList(["install", "--no-install-recommends", name]);
}
