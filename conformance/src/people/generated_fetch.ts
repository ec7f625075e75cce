// The first session of the README by openapi-fetch, with the types of openapi-typescript.
import { writeFileSync } from 'node:fs';
import createClient from 'openapi-fetch';
import type { paths } from './api';

const { SESSION_API, SESSION_KEY, SESSION_SITE } = process.env;
const client = createClient<paths>({ baseUrl: SESSION_API, headers: { Authorization: `Bearer ${SESSION_KEY}` } });

function given<T>(answer: { data?: T; error?: { code: string; detail: string } }): T {
  if (answer.data === undefined) throw new Error(`${answer.error?.code}: ${answer.error?.detail}`);
  return answer.data;
}

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

const me = given(await client.GET('/me'));
if (!('project' in me)) throw new Error('a key has a project');
const path = { projectId: me.project.id };
const keyword = { keyword: 'indoor ferns', searchVolume: 2400 };
const header = { 'Idempotency-Key': 'first' };
const made = given(await client.POST('/projects/{projectId}/keywords', { params: { path, header }, body: keyword }));
const again = given(await client.POST('/projects/{projectId}/keywords', { params: { path, header }, body: keyword }));
expect(made.id === again.id && made.keywordDifficulty === null, 'a keyword is made once');
const refused = await client.POST('/projects/{projectId}/keywords', { params: { path }, body: { keyword: '' } });
expect(refused.error?.errors?.[0]?.pointer === '/keyword', 'a refusal names the field');

given(await client.POST('/projects/{projectId}/audits', { params: { path } }));
await until(async () => given(await client.GET('/projects/{projectId}/audits/current', { params: { path } })).status === 'completed');
const issues = given(await client.GET('/projects/{projectId}/issues', { params: { path, query: { severity: 'error' } } }));
const broken = issues.data.find((issue) => issue.checkId === 'broken-internal-link');
if (!broken) throw new Error('the broken link was not found');
const ofIssue = { params: { path: { ...path, issueId: broken.id } } };

async function recheck(): Promise<string> {
  const found = given(await client.GET('/projects/{projectId}/issues/{issueId}/occurrences', ofIssue));
  const occurrences = found.data.map(({ issue_id, page_id }) => ({ issue_id, page_id }));
  given(await client.POST('/projects/{projectId}/occurrences/done', { params: { path }, body: { occurrences, note: 'link corrected' } }));
  const { recheck } = given(await client.POST('/projects/{projectId}/rechecks', { params: { path } }));
  const ofRecheck = { params: { path: { ...path, recheckId: recheck.id } } };
  await until(async () => given(await client.GET('/projects/{projectId}/rechecks/{recheckId}', ofRecheck)).status === 'completed');
  const after = given(await client.GET('/projects/{projectId}/issues/{issueId}/occurrences', ofIssue));
  return after.data.map((place) => place.state).join();
}

expect((await recheck()) === 'still_present', 'a claim that is not true is not believed');
writeFileSync(`${SESSION_SITE}/index.html`, '<!doctype html><html lang="en"><title>House plants</title><h1>Ferns</h1><a href="/ferns.html">Guide</a>');
expect(['', 'resolved'].includes(await recheck()), 'a fix is proven');
