// `npm run soak`: everything goes wrong at once, for minutes; the ledger has the last word.
import { parseArgs } from "node:util";
import { type Soak, soak } from "./soak-run.ts";

const USAGE = `npm run soak -- [options]
  --minutes N    of trouble (10)
  --rate N       mails in a second (34: 20,000 in ten minutes)
Ends with exit code 1 when a mail is lost, or has a second copy that its row does not tell of.`;

const { values: options } = parseArgs({
  options: {
    minutes: { type: "string", default: "10" },
    rate: { type: "string", default: "34" },
    help: { type: "boolean", default: false },
  },
});

if (options.help) console.log(USAGE);
else {
  const minutes = Number(options.minutes);
  const found = await soak({
    duration: minutes * 60_000,
    rate: Number(options.rate),
    calendar: { kill: [2_000, 5_000], stall: 15_000, terminate: 5_000, restart: 60_000 },
    onProgress: (promised, accepted, toll) =>
      console.error(`${promised} promised, ${accepted} messages accepted, ${JSON.stringify(toll)}`),
  });
  console.log(describe(found, minutes));
  const { lost, missing, unflagged, unexplained, broken } = found;
  if (lost + missing + unflagged + unexplained + Object.keys(broken).length > 0) {
    console.log(JSON.stringify({ ledger: found.ledger, broken }, null, 2));
    process.exitCode = 1;
  }
}

function describe(found: Soak, minutes: number): string {
  const { toll } = found;
  return `${minutes} minutes, 3 workers, mail enqueued through PgBouncer
  ${toll.kills} workers killed, ${toll.stalls} stopped for longer than their lease, ${toll.stops} asked to stop (${toll.badStops} of them, or at the end, did not exit with 0)
  ${toll.restarts} crashes of PostgreSQL, ${toll.terminated} connections ended, one transaction of ten failed by the mail server
  ${found.promised} mails promised (${found.producerFailures} statements made again, ${found.takenBack} transactions rolled back), drained ${Math.round(found.drain)} ms after the end of the trouble
  ends: ${Object.entries(found.ends)
    .map(([end, count]) => `${end} ${count}`)
    .join(", ")}
  lost ${found.lost}, promised but not there ${found.missing}, second copies ${found.secondCopies}, unflagged ${found.unflagged}, flagged ${found.flagged}, ended without a reason ${found.unexplained}, invariants broken: ${Object.keys(found.broken).join("; ") || "none"}`;
}
