import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { eventually } from "../faults/eventually.ts";
import { startScene } from "../faults/scene.ts";
import { labelValues, readSeries, scrape } from "./series.ts";

suite("a worker's metrics", () => {
  test("tell what became of its mail, by template, transport and error code", async (t) => {
    const scene = await startScene(t, {
      smtp: {
        script: {
          rcpt: ({ address }) => (address.startsWith("gone@") ? "550 5.1.1 No such user" : undefined),
        },
      },
    });
    const { worker, log } = await scene.here({ options: { metrics: { port: 0 } } });
    const { url } = await log.line("metrics_started");
    const sent = await scene.enqueueMany(3);
    for (const id of sent) await scene.until(id, "SENT");
    const gone = await scene.enqueue({ recipient: "gone@customer.example" });
    const nowhere = await scene.enqueue({ template: "made-up-by-somebody" });
    const invalid = await scene.enqueue({ recipient: "no address" });
    for (const id of [gone, nowhere, invalid]) await scene.until(id, "FAILED");
    await eventually("the outcomes are counted", async () => {
      const { body } = await worker.engine.expose();
      return body.includes('code="template_not_found"') && body.includes('code="recipient_refused"');
    });

    const series = await scrape(String(url));
    const outcomes = [...series].filter(([name]) => name.startsWith("posthaste_outcomes_total{")).sort();
    assert.deepEqual(Object.fromEntries(outcomes), {
      'posthaste_outcomes_total{outcome="failed",template="other",transport="none",code="template_not_found"}': 1,
      'posthaste_outcomes_total{outcome="failed",template="plain",transport="default",code="recipient_refused"}': 1,
      'posthaste_outcomes_total{outcome="sent",template="plain",transport="default",code="none"}': 3,
    });
    assert.equal(series.get('posthaste_send_seconds_count{transport="default"}'), 4);
    assert.equal(series.get('posthaste_render_seconds_count{template="plain"}'), 4);
    assert.equal(series.get("posthaste_queue_latency_seconds_count"), 5);
    assert.ok((series.get("posthaste_queue_latency_seconds_sum") ?? 99) < 10);
    assert.ok((series.get("posthaste_claim_seconds_count") ?? 0) >= 1);
    assert.equal(series.get('posthaste_events_total{event="email_sent",level="info"}'), 3);
    assert.equal(series.get('posthaste_events_total{event="worker_started",level="info"}'), 1);
    assert.equal(series.get("posthaste_duplicates_flagged_total"), 0);
    assert.equal(series.get("posthaste_connected"), 1);
    assert.equal(series.get("posthaste_sending"), 0);
    assert.ok((series.get("process_resident_memory_bytes") ?? 0) > 10_000_000);
  });

  test("hold no address, and no word that somebody else may choose", async (t) => {
    const scene = await startScene(t);
    const { worker } = await scene.here();
    const ids = [];
    for (let n = 0; n < 20; n++) {
      ids.push(await scene.enqueue({ template: `made-up-${n}`, recipient: `secret${n}@customer.example` }));
    }
    ids.push(await scene.enqueue({ transport: "made-up", recipient: "secret@customer.example" }));
    for (const id of ids.slice(0, -1)) await scene.until(id, "FAILED");
    await eventually("all are counted", async () => {
      const { body } = await worker.engine.expose();
      return body.includes("} 20\n") && body.includes('template="plain"');
    });
    const { body } = await worker.engine.expose();
    const series = readSeries(body);
    assert.doesNotMatch(body, /secret|customer|made-up|no-reply@|127\.0\.0\.1/);
    assert.deepEqual(labelValues(series, "template"), ["other", "plain"]);
    assert.ok(labelValues(series, "transport").every((name) => ["default", "none", "other"].includes(name)));
    assert.ok(series.size < 400, `${series.size} series`);
  });

  test("count what maintenance takes back, and what it flags", async (t) => {
    const scene = await startScene(t);
    const id = await scene.enqueue();
    // As a worker leaves it that dies after the final dot.
    await scene.database.query(
      `with c as (select * from posthaste_private.claim(array[$1::uuid], 'gone', '1 second', 'production', 'shop.example'))
       select from c, posthaste_private.extend_leases(array[c.id], array[c.lease_token], '1 second', true)`,
      [id],
    );
    const [{ handed }] = await scene.database.query(
      "update posthaste.email_messages set handed_over_at = now() where id = $1 returning handed_over_at is not null as handed",
      [id],
    );
    assert.equal(handed, true);
    const { worker } = await scene.here();
    await eventually("it is taken back", async () => {
      const series = readSeries((await worker.engine.expose()).body);
      return series.get('posthaste_leases_reaped_total{kind="unknown"}') === 1;
    });
    const series = readSeries((await worker.engine.expose()).body);
    assert.equal(series.get("posthaste_duplicates_flagged_total"), 1);
    assert.equal(series.get('posthaste_leases_reaped_total{kind="crashed"}'), 0);
  });
});
