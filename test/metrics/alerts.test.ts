import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { readMeasurements } from "../../src/database/measurements.ts";
import { createHttpMetrics } from "../../src/metrics/metrics.ts";
import { eventually } from "../faults/eventually.ts";
import { startScene } from "../faults/scene.ts";
import { promtool } from "./promtool.ts";
import { readSeries, type Series } from "./series.ts";

const directory = mkdtempSync(join(tmpdir(), "posthaste-alerts-"));
after(() => rmSync(directory, { recursive: true }));

const readme = readFileSync(join(import.meta.dirname, "../../README.md"), "utf8");
const blocks = [...readme.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, text = ""]) => text);
const RULES = file("alerts.yml", blocks.find((text) => text.startsWith("groups:")) ?? "");
const rules = readFileSync(RULES, "utf8");
const alerts = [...rules.matchAll(/- alert: (\w+)/g)].map(([, name]) => name);

function file(name: string, text: string): string {
  writeFileSync(join(directory, name), text);
  return join(directory, name);
}

test("Prometheus accepts README's rules and its configuration", () => {
  const scraping = blocks.find((text) => text.startsWith("scrape_configs:")) ?? "";
  const configuration = file("prometheus.yml", `${scraping}rule_files: ["${RULES}"]\n`);
  const checked = promtool("check", "config", configuration);
  assert.equal(checked.code, 0, checked.output);
  assert.match(checked.output, new RegExp(`SUCCESS: ${alerts.length} rules found`));
});

/** One scrape each, of real processes in these states. */
const recorded: Record<string, Series> = {};

before(async (t) => {
  const scene = await startScene(t as never);
  const { worker, stop } = await scene.here();
  const [id = ""] = await scene.enqueueMany(1);
  await scene.until(id, "SENT");
  // Unknown templates fail, so that the counters of failures have a name to go on with.
  await scene.until(await scene.enqueue({ template: "nowhere" }), "FAILED");
  const own = await eventually("the worker is counted as listening", async () => {
    const series = readSeries((await createHttpMetrics(() => readMeasurements(scene.database.pool))()).body);
    return series.get("posthaste_listening_workers") === 1 && series;
  });
  recorded.calm = new Map([...readSeries((await worker.engine.expose()).body), ...own]);
  await stop();
  const scrape = async () =>
    readSeries((await createHttpMetrics(() => readMeasurements(scene.database.pool))()).body);
  await scene.enqueue({ send_at: new Date(Date.now() - 600_000) });
  recorded.stopped = await scrape();
  await scene.database.query(
    `select posthaste_private.report_transport('default', 'open', null, 'transport_unavailable', 'down', '{"failures": 3, "probe": 5000, "max_probe": 60000}')`,
  );
  recorded.blocked = await scrape();
  recorded.away = readSeries(
    (await createHttpMetrics(() => Promise.reject(new Error("no database")))()).body,
  );
});

/** What is recorded, for an hour; some figures of it otherwise, in promtool's notation. And what fires then. */
interface Hour {
  readonly from: string;
  readonly changes?: Readonly<Record<string, string>>;
  readonly fires: readonly string[];
}

const outcomes = (outcome: string, template: string, code: string) =>
  `posthaste_outcomes_total{outcome="${outcome}",template="${template}",transport="default",code="${code}"}`;
const FAILED = outcomes("failed", "plain", "recipient_refused");

const HOURS: Readonly<Record<string, Hour>> = {
  "a calm hour": { from: "calm", fires: [] },
  "a busy one, in which one mail in a hundred fails": {
    from: "calm",
    changes: { [outcomes("sent", "plain", "none")]: "0+100x60", [FAILED]: "0+1x60" },
    fires: [],
  },
  "the last worker has stopped": { from: "stopped", fires: ["PosthasteNoWorker", "PosthasteQueueStuck"] },
  "nobody is left to be scraped": { from: "nothing", fires: ["PosthasteNoWorker"] },
  "the mail server is down": {
    from: "blocked",
    changes: { posthaste_live_workers: "1+0x60", posthaste_listening_workers: "1+0x60" },
    fires: ["PosthasteQueueStuck", "PosthasteTransportStopped"],
  },
  "the database is away": { from: "away", fires: ["PosthasteDatabaseSilent", "PosthasteNoWorker"] },
  "outcomes cannot be recorded": {
    from: "calm",
    changes: { posthaste_outcomes_kept: "3+0x60" },
    fires: ["PosthasteOutcomesKept"],
  },
  "one mail in five fails": {
    from: "calm",
    changes: { [outcomes("sent", "plain", "none")]: "0+4x60", [FAILED]: "0+1x60" },
    fires: ["PosthasteManyFailures"],
  },
  "a template was not deployed": {
    from: "calm",
    changes: {
      'posthaste_outcomes_total{outcome="failed",template="other",transport="none",code="template_not_found"}':
        "0x52 1x8",
    },
    fires: ["PosthasteTemplateBroken"],
  },
  "a form takes anything for an address": {
    from: "calm",
    changes: { 'posthaste_failed_recently{code="recipient_invalid"}': "150+0x60" },
    fires: ["PosthasteBadAddresses"],
  },
  "there are too few workers": {
    from: "calm",
    changes: {
      'posthaste_queue_latency_seconds_bucket{le="30"}': "0+1x60",
      'posthaste_queue_latency_seconds_bucket{le="60"}': "0+9x60",
      'posthaste_queue_latency_seconds_bucket{le="300"}': "0+10x60",
      'posthaste_queue_latency_seconds_bucket{le="1800"}': "0+10x60",
      'posthaste_queue_latency_seconds_bucket{le="7200"}': "0+10x60",
      'posthaste_queue_latency_seconds_bucket{le="+Inf"}': "0+10x60",
    },
    fires: ["PosthasteSlow"],
  },
  "notifications do not arrive": {
    from: "calm",
    changes: { posthaste_listening_workers: "0+0x60" },
    fires: ["PosthasteNotListening"],
  },
  "a worker was killed after the final dot": {
    from: "calm",
    changes: {
      'posthaste_leases_reaped_total{kind="unknown"}': "0x52 1x8",
      posthaste_duplicates_flagged_total: "0x52 1x8",
    },
    fires: ["PosthasteDuplicates", "PosthasteWorkersDie"],
  },
  "somebody deletes jobs": {
    from: "calm",
    changes: { posthaste_jobs_readded_total: "0+1x60" },
    fires: ["PosthasteJobsLost"],
  },
  "jobs are added after an outage": {
    from: "calm",
    changes: {
      posthaste_jobs_readded_total: "0+1x60",
      'posthaste_transport_state{transport="default",state="open"}': "1x20 0x40",
    },
    fires: [],
  },
  "maintenance stands still": {
    from: "calm",
    changes: { posthaste_maintenance_age_seconds: "0+60x60" },
    fires: ["PosthasteMaintenanceStopped"],
  },
  "a transaction was forgotten": {
    from: "calm",
    changes: { posthaste_oldest_snapshot_seconds: "0+60x60" },
    fires: ["PosthasteLongTransaction"],
  },
  "a listening session lags": {
    from: "calm",
    changes: { posthaste_notification_queue_ratio: "0.6+0x60" },
    fires: ["PosthasteNotificationsFull"],
  },
  "no purge has run since the day before yesterday": {
    from: "calm",
    changes: { 'posthaste_purge_age_seconds{event="active"}': "170000+60x60" },
    fires: ["PosthastePurgeMissing"],
  },
};

suite("at the end of an hour in which", () => {
  for (const [name, { from, changes = {}, fires }] of Object.entries(HOURS)) {
    test(`${name}, ${fires.join(" and ") || "nothing"} fires`, () => {
      const series = [...(recorded[from] ?? [])].filter(([one]) => one.startsWith("posthaste_"));
      const values = {
        ...Object.fromEntries(series.map(([one, value]) => [one, `${value.toFixed(6)}+0x60`])),
        ...changes,
      };
      // JSON is YAML.
      const tests = {
        rule_files: [RULES],
        evaluation_interval: "1m",
        tests: [
          {
            interval: "1m",
            input_series: Object.entries(values).map(([one, told]) => ({ series: one, values: told })),
            promql_expr_test: [
              {
                expr: 'group by (alertname) (ALERTS{alertstate="firing"})',
                eval_time: "1h",
                exp_samples: fires.map((alert) => ({ labels: `{alertname="${alert}"}`, value: 1 })),
              },
            ],
          },
        ],
      };
      const run = promtool("test", "rules", file("tests.json", JSON.stringify(tests)));
      assert.equal(run.code, 0, run.output);
    });
  }

  test("every alert is shown to fire", () => {
    const fired = Object.values(HOURS).flatMap(({ fires }) => fires);
    assert.deepEqual([...new Set(fired)].sort(), alerts.toSorted());
  });
});

test("README names every figure that is told, and no other", () => {
  const chapter = readme.slice(
    readme.indexOf("## Metrics and alerts"),
    readme.indexOf("## An existing application"),
  );
  const named = new Set([...chapter.matchAll(/posthaste_[a-z_]+[a-z]/g)].map(([name]) => family(name)));
  // These are told once there was a purge, a failure, or a vacuum.
  const seldom = [
    "posthaste_purge_age_seconds",
    "posthaste_failed_recently",
    "posthaste_table_vacuum_age_seconds",
  ];
  const told = new Set([...(recorded.calm ?? new Map<string, number>()).keys(), ...seldom].map(family));
  assert.deepEqual([...named].sort(), [...told].filter((name) => name.startsWith("posthaste_")).sort());
});

function family(name: string): string {
  return name.replace(/\{.*/, "").replace(/_(bucket|sum|count)$/, "");
}
