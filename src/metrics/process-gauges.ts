import { performance } from "node:perf_hooks";
import { Counter, Gauge, type Registry } from "@prometheus-io/client";
import { version } from "../package-root.ts";

/** Makes the process's own figures under their usual names. They are looked at when they are told, and never in between. */
export function createProcessGauges(registry: Registry, kind: "worker" | "http"): void {
  const registers = [registry];
  new Gauge({
    name: "posthaste_info",
    help: "Always 1; what this process is.",
    labelNames: ["kind", "version"],
    registers,
  }).set({ kind, version }, 1);
  new Gauge({
    name: "process_start_time_seconds",
    help: "When the process started, in seconds since 1970.",
    registers,
  }).set(performance.timeOrigin / 1000);
  new Gauge({
    name: "process_resident_memory_bytes",
    help: "Resident memory.",
    registers,
    collect() {
      this.set(process.memoryUsage.rss());
    },
  });
  new Counter({
    name: "process_cpu_seconds_total",
    help: "Processor time, user and system.",
    registers,
    collect() {
      const { user, system } = process.cpuUsage();
      this.reset();
      this.inc((user + system) / 1e6);
    },
  });
  let before = performance.eventLoopUtilization();
  new Gauge({
    name: "nodejs_eventloop_utilization",
    help: "Busy part of the event loop since the last time this was asked, 0 to 1.",
    registers,
    collect() {
      const now = performance.eventLoopUtilization();
      this.set(performance.eventLoopUtilization(now, before).utilization);
      before = now;
    },
  });
}
