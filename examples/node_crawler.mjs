// A crawler in JavaScript: `recrawl serve --schedule` says which pages to fetch now, and learns what came.
//
//   export RECRAWL_TOKEN=$(openssl rand -hex 16)
//   recrawl serve --schedule &
//   node examples/node_crawler.mjs http://127.0.0.1:8117
//
// Needs Node 18 and no package. Ends when nothing has been due for PATIENCE seconds (20). Reading
// robots.txt is left to you.
import { env, argv } from "node:process";

const api = `${argv[2] ?? "http://127.0.0.1:8117"}/api/v1`;
const patience = env.PATIENCE ?? "20";

async function call(path, body, headers = {}) {
  const response = await fetch(api + path, {
    method: "POST",
    headers: {
      Authorization: `Bearer ${env.RECRAWL_TOKEN}`,
      "Content-Type": "application/json",
      ...headers,
    },
    body: body && JSON.stringify(body),
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.detail); // problem+json: one clear sentence
  return answer;
}

// What a page answered, as a report. page.headers makes the request conditional.
async function visit(page) {
  try {
    const response = await fetch(page.address, {
      headers: page.headers,
      redirect: "manual",
      signal: AbortSignal.timeout(60_000),
    });
    const body = Buffer.from(await response.arrayBuffer());
    return {
      lease: page.lease,
      status: response.status,
      headers: Object.fromEntries(response.headers),
      ...(body.length && { body_base64: body.toString("base64") }),
    };
  } catch {
    return { lease: page.lease, outcome: "failed" };
  }
}

for (;;) {
  // One page per host at a time: the hosts of a batch are asked side by side.
  const { pages } = await call(`/due?limit=10&lease_seconds=120&wait=${patience}`);
  if (pages.length === 0) break;
  const visits = await Promise.all(pages.map(visit));
  // The key makes it safe to send the batch again, should no answer come.
  const { visits: results } = await call("/visits", { visits }, { "Idempotency-Key": pages[0].lease });
  results.forEach((each, at) => console.log(each.outcome ?? each.problem, pages[at].address));
}
