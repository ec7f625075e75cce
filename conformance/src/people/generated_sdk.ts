// The first session of the README by the functions that hey-api generates.
import { writeFileSync } from 'node:fs';
import {
  auditsCurrent,
  auditsStart,
  issuesList,
  issuesOccurrences,
  keywordsCreate,
  meGet,
  occurrencesDone,
  rechecksGet,
  rechecksStart,
} from './client';
import { client } from './client/client.gen';

const { SESSION_API, SESSION_KEY, SESSION_SITE } = process.env;
client.setConfig({ baseUrl: SESSION_API, auth: SESSION_KEY });

function expect(isTrue: boolean, what: string): void {
  if (!isTrue) throw new Error(what);
}

async function until(ended: () => Promise<boolean>): Promise<void> {
  for (let asked = 0; asked < 600; asked += 1) {
    if (await ended()) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error('it did not end in a minute');
}

const throwOnError = true;
const { data: me } = await meGet({ throwOnError });
if (!('project' in me)) throw new Error('a key has a project');
const path = { projectId: me.project.id };
const body = { keyword: 'indoor ferns', searchVolume: 2400 };
const headers = { 'Idempotency-Key': 'first' };
const { data: made } = await keywordsCreate({ path, headers, body, throwOnError });
const { data: again } = await keywordsCreate({ path, headers, body, throwOnError });
expect(made.id === again.id && made.keywordDifficulty === null, 'a keyword is made once');
const refused = await keywordsCreate({ path, body: { keyword: '' } });
expect(refused.error?.errors?.[0]?.pointer === '/keyword', 'a refusal names the field');

await auditsStart({ path, throwOnError });
await until(async () => (await auditsCurrent({ path, throwOnError })).data.status === 'completed');
const { data: issues } = await issuesList({ path, query: { severity: 'error' }, throwOnError });
const broken = issues.data.find((issue) => issue.checkId === 'broken-internal-link');
if (!broken) throw new Error('the broken link was not found');
const ofIssue = { path: { ...path, issueId: broken.id }, throwOnError } as const;

async function recheck(): Promise<string> {
  const { data: found } = await issuesOccurrences(ofIssue);
  const occurrences = found.data.map(({ issue_id, page_id }) => ({ issue_id, page_id }));
  await occurrencesDone({ path, body: { occurrences, note: 'link corrected' }, throwOnError });
  const { data: started } = await rechecksStart({ path, throwOnError });
  const ofRecheck = { path: { ...path, recheckId: started.recheck.id }, throwOnError } as const;
  await until(async () => (await rechecksGet(ofRecheck)).data.status === 'completed');
  return (await issuesOccurrences(ofIssue)).data.data.map((place) => place.state).join();
}

expect((await recheck()) === 'still_present', 'a claim that is not true is not believed');
writeFileSync(`${SESSION_SITE}/index.html`, '<!doctype html><html lang="en"><title>House plants</title><h1>Ferns</h1><a href="/ferns.html">Guide</a>');
expect(['', 'resolved'].includes(await recheck()), 'a fix is proven');
