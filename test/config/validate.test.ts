import assert from "node:assert/strict";
import { test } from "node:test";
import { validateConfiguration } from "../../src/configuration/validate.ts";

function validate(options: unknown, environment: Record<string, string> = {}, sends = false) {
  return validateConfiguration({ options, environment, sends, directory: "/app" });
}

function problemsOf(options: unknown, environment?: Record<string, string>, sends?: boolean) {
  return validate(options, environment, sends).problems;
}

test("the environment alone is enough to send", () => {
  const { config, problems } = validate(
    undefined,
    { SMTP_URL: "smtps://u:p@mail.example:465", POSTHASTE_FROM: "Shop <no-reply@shop.example>" },
    true,
  );
  assert.deepEqual(problems, []);
  assert.equal(config.from, "Shop <no-reply@shop.example>");
  assert.equal(config.defaultTransport, "default");
  assert.deepEqual(config.transports.get("default"), {
    url: "smtps://u:p@mail.example:465",
    connections: 10,
    idempotencyHeader: null,
  });
  assert.equal(config.emails, "/app/emails");
  assert.equal(config.journal, "/app/.posthaste/journal");
});

test("what is left out has the documented default, in milliseconds", () => {
  const { config } = validate({ breaker: {}, timeouts: undefined });
  assert.equal(config.lease, 60_000);
  assert.equal(config.maintenanceInterval, 15_000);
  assert.equal(config.shutdownGrace, 25_000);
  assert.equal(config.timeouts.finalReply, 600_000);
  assert.deepEqual(config.retry.delays, [30_000, 120_000, 600_000, 1_800_000, 7_200_000, 21_600_000]);
  assert.equal(config.retry.maxAge, 432_000_000);
  assert.deepEqual(config.breaker, { failures: 3, probe: 5000, maxProbe: 60_000 });
  assert.equal(config.secretsAfterFailure, 86_400_000);
  assert.equal(config.environment, "production");
});

test("sending demands a sender and a transport, and says how to set them", () => {
  assert.deepEqual(problemsOf({}, {}, true), [
    "posthaste.transports is empty; set SMTP_URL, or transports.default.url, to the URL of your mail server.",
    "posthaste.from is missing; set it, or POSTHASTE_FROM, to the sender of your mail.",
  ]);
  assert.deepEqual(problemsOf({}), []);
});

test("a transport whose url is an unset variable counts as missing, unless SMTP_URL gives it", () => {
  const options = { from: "a@shop.example", transports: { default: { url: undefined } } };
  assert.match(
    problemsOf(options, {}, true)[0] ?? "",
    /transports\.default\.url is missing; set it, or SMTP_URL,/,
  );
  assert.deepEqual(problemsOf(options, { SMTP_URL: "smtp://mail.example" }, true), []);
});

test("the first transport is the default, and SMTP_URL goes before the file", () => {
  const options = {
    transports: { ses: { url: "smtp://ses.example" }, bulk: { url: "smtp://bulk.example" } },
  };
  assert.equal(validate(options).config.defaultTransport, "ses");
  const { config } = validate(options, { SMTP_URL: "smtp://catcher.test" });
  assert.equal(config.defaultTransport, "default");
  assert.deepEqual([...config.transports.keys()], ["default", "ses", "bulk"]);
});

test("an unknown option is answered with the one that was meant, at every depth", () => {
  assert.deepEqual(
    problemsOf({ leese: "60s", retry: { maxAttemps: 3 }, transports: { default: { uri: "x" } } }),
    [
      'posthaste.leese is not an option; did you mean "lease"?',
      'posthaste.transports.default.uri is not an option; did you mean "url"?',
      'posthaste.retry.maxAttemps is not an option; did you mean "maxAttempts"?',
    ],
  );
  assert.match(
    problemsOf({ colour: 1 })[0] ?? "",
    /is not an option; remove it, or use one of .*maintenanceInterval/,
  );
});

test("all problems are reported at once, each with rule and value", () => {
  const problems = problemsOf({
    from: "nobody",
    lease: "2s",
    maintenanceInterval: "31s",
    concurrency: 0,
    onUnknownOutcome: "ignore",
    retry: { delays: [] },
    breaker: { probe: "2m", maxProbe: "1m" },
    timeouts: "10s",
  });
  assert.equal(problems.length, 8);
  assert.ok(
    problems.includes(
      'posthaste.lease must be a duration from 3s to 1d, such as "10s", "2m", "1h", "5d" or a number of milliseconds; received "2s".',
    ),
  );
  assert.ok(problems.includes('posthaste.timeouts must be an object; received "10s".'));
  assert.ok(problems.includes("posthaste.concurrency must be a whole number from 1 to 1000; received 0."));
  assert.ok(
    problems.some((line) => /probe must not be longer than breaker.maxProbe; received 2m and 1m/.test(line)),
  );
});

for (const url of [
  "http://user:hunter2@mail.example",
  "smtp://user:hunter2/with#slash@mail.example:587",
  "smtp://user:%hunter2@mail.example",
  "smtp://user:12/hunter2@mail.example",
  "smtp://user:hunter2",
  "user:hunter2@mail.example",
  "hunter2",
  ["smtp://user:hunter2@mail.example"],
]) {
  test(`a wrong mail server URL is reported without its password: ${JSON.stringify(url)}`, () => {
    const problems = problemsOf({ transports: { default: { url } } });
    assert.equal(problems.length, 1);
    assert.match(problems[0] ?? "", /^posthaste\.transports\.default\.url must be a URL such as/);
    assert.doesNotMatch(problems[0] ?? "", /hunter/);
  });
}

test("a URL in the wrong place is reported without its password", () => {
  const url = "smtp://user:hunter2@mail.example:587?x=hunter2";
  const problems = problemsOf(
    { transports: { default: url, other: { url, connections: url } }, from: url },
    { SMTP_URL: "" },
  );
  assert.equal(problems.length, 3);
  assert.doesNotMatch(problems.join(), /hunter/);
  assert.match(problems.join(), /smtp:\/\/\*\*\*@mail\.example:587/);
  assert.doesNotMatch(problemsOf({}, { SMTP_URL: `x${url} ` }).join(), /hunter/);
});

test("a transport's name is limited to what the database accepts", () => {
  assert.match(
    problemsOf({ transports: { "My Server": { url: "smtp://a.example" } } })[0] ?? "",
    /a-z, 0-9, _ and -/,
  );
});

test("a sender must be exactly one address", () => {
  for (const from of ["a@b.example", "Shop <a@b.example>", '"Shop, Inc." <a@b.example>']) {
    assert.deepEqual(problemsOf({ from }), [], from);
  }
  for (const from of [
    "",
    "a@",
    "a@b.example, c@d.example",
    "Shop <a@b.example> x",
    "a@b.example\nBcc: c@d.example",
  ]) {
    assert.equal(problemsOf({ from }).length, 1, JSON.stringify(from));
  }
});

test("a transport without a url is missing one, whoever asks; an unset variable may be set elsewhere", () => {
  const missing = /^posthaste\.transports\.bulk\.url is missing; set it to a URL/;
  assert.match(problemsOf({ transports: { bulk: {} } })[0] ?? "", missing);
  assert.deepEqual(problemsOf({ transports: { bulk: { url: undefined } } }), []);
  assert.deepEqual(problemsOf({ transports: { default: {} } }), []);
});

test("a host without a scheme is answered with the URL that was meant, once", () => {
  const from = "a@shop.example";
  for (const [given, meant] of [
    ["localhost:1025", "smtp://localhost:1025"],
    ["mail.shop.example:465", "smtps://mail.shop.example:465"],
    ["mail.shop.example", "smtp://mail.shop.example"],
  ] as const) {
    const sentence = `lacks its scheme; did you mean ${meant}?`;
    assert.deepEqual(problemsOf({ from }, { SMTP_URL: given }, true), [`SMTP_URL ${sentence}`]);
    assert.deepEqual(problemsOf({ from, transports: { a: { url: given } } }, {}, true), [
      `posthaste.transports.a.url ${sentence}`,
    ]);
  }
});

test("the environment is one word, and the log's format one of two", () => {
  assert.deepEqual(problemsOf({ environment: "staging_2-b" }), []);
  for (const environment of ["", "my shop", "a.b", "x".repeat(64), 7]) {
    const [problem = ""] = problemsOf({ environment });
    assert.match(
      problem,
      /^posthaste\.environment must be a word of 1 to 63 letters, digits, - and _; received/,
    );
  }
  assert.deepEqual(problemsOf({}, { POSTHASTE_LOG: "text" }), []);
  assert.deepEqual(problemsOf({}, { POSTHASTE_LOG: "xml" }), [
    'POSTHASTE_LOG must be json or text; received "xml".',
  ]);
});
