import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Witness } from '../referee/witness.js';
import { ADMIN_KEY, idOf } from '../system/support/refereed-system.js';
import { keepShot, openPage, seriousFaults, startBrowser, untilSays, type Watched } from './support/browser.js';
import { type DashboardSystem, DEPTHS, dashboardSystem, RATES, TENANT_KEY } from './support/dashboard-system.js';

const CROWD = 2000;
/** Names that somebody may choose who means harm: markup, text that runs the other way, and a character that rings. */
const HOSTILE = ['<img src=x onerror="window.harmed=1">', 'gpj.\u202Eexe', 'bell\u0007', 'مرحبا'];
/** What the browser says of an answer that is no success: that of the server or Redis being away. */
const OUTAGE = /Failed to load resource|ERR_CONNECTION|EventSource/;

let dash: DashboardSystem;
let browser: Browser;
let witness: Witness;
let admin: Watched;

beforeAll(async () => {
  [dash, browser] = await Promise.all([dashboardSystem(), startBrowser()]);
  witness = dash.system.witness(dash.headgate.url);
  const names = [...Array.from({ length: CROWD }, (_, i) => `crowd-${String(i).padStart(4, '0')}`), ...HOSTILE];
  for (let from = 0; from < names.length; from += 500) {
    const jobs = names
      .slice(from, from + 500)
      .map((tenant) => ({ type: 'chat', tenant, data: {}, delayMs: 3_600_000 }));
    expect(await dash.post('/v1/jobs/batch', { jobs })).toBe(200);
  }
  admin = await openPage(browser);
}, 600_000);
afterAll(async () => {
  await browser?.close();
  await dash?.end();
});

const at = (hash = '') => `${dash.headgate.url}/${hash}`;
const card = (page: Page, tenant: string) => page.locator('.bucket', { has: page.getByText(tenant, { exact: true }) });

async function signIn(page: Page, key: string, hash = ''): Promise<void> {
  await page.goto(at(hash));
  await page.getByLabel(/API key/).fill(key);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.locator('.live').waitFor();
}

/** Says how many wait in the first bucket that is shown of a tenant. */
const waitingOf = async (page: Page, tenant: string) =>
  Number((await card(page, tenant).locator('strong').textContent())?.replaceAll(',', ''));

const jobsOf = (tenant: string, count: number, type = 'ocr') =>
  witness.enqueueBatch(
    tenant,
    Array.from({ length: count }, () => ({ type, cost: 1 })),
  );

describe('the dashboard', () => {
  it('asks for a key, says when it is none, and opens with one', async () => {
    const { page, complaints } = admin;
    await page.goto(at());
    await page.getByLabel(/API key/).fill('no such key');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await untilSays(page, '[role=alert]', /Nobody holds this key/);
    expect(await seriousFaults(page)).toEqual([]);
    // The browser itself writes down that the key was refused.
    expect(complaints.splice(0)).toEqual([expect.stringContaining('401')]);
    await signIn(page, ADMIN_KEY);
    await untilSays(page, '.headline', /ocr/);
    expect(await page.locator('.reservoir').count()).toBe(2);
    const cookies = await page.context().cookies();
    expect(cookies).toMatchObject([{ name: 'headgate_session', httpOnly: true, sameSite: 'Strict' }]);
    expect(complaints).toEqual([]);
  });

  it('shows who is full, and a level that falls', async () => {
    const { page, complaints } = admin;
    await jobsOf('acme', 30);
    const saysFull = async () => {
      // It is full for three seconds, which may be over before a busy machine looks.
      await jobsOf('acme', 2);
      return page.locator('.headline').textContent();
    };
    await expect.poll(saysFull, { interval: 500 }).toMatch(/acme is full/);
    await keepShot(page, 'overview');
    const high = await waitingOf(page, 'acme');
    const water = card(page, 'acme').locator('.water');
    const full = await water.getAttribute('d');
    await expect.poll(() => waitingOf(page, 'acme')).toBeLessThan(high - 5);
    expect(await water.getAttribute('d')).not.toBe(full);
    await expect.poll(() => page.locator('.headline').textContent()).not.toMatch(/acme is full/);
    // Who hears the page is told, too, of what lasts for some seconds.
    await untilSays(page, '#announcer', /^ocr keeps up/);
    expect(complaints).toEqual([]);
  });

  it('says what time it is beside the next start, how many workers there may be, and what the scale counts', async () => {
    const { page, complaints } = admin;
    await jobsOf('acme', 10);
    await untilSays(page, '.headline', /next start \d\d:\d\d:\d\d\.\d now \d\d:\d\d:\d\d$/);
    const clock = page.locator('.headline .now');
    const before = await clock.textContent();
    await expect.poll(() => clock.textContent()).not.toBe(before);
    const reservoir = page.locator('.reservoir', { has: page.getByText('ocr', { exact: true }) });
    const shown = await reservoir.textContent();
    expect(shown).toMatch(/jobs, log scale/);
    expect(shown).toMatch(
      /in[\d.]+\/s.*out[\d.]+\/s.*waiting\d+.*oldest.*workers\d+ busy, no limit.*slip.*buckets\d+ ready of \d+/,
    );
    expect(complaints).toEqual([]);
  });

  it('finds one of 2,000 tenants, and draws only those that are seen', async () => {
    const { page, complaints } = admin;
    await page.goto(at('#/type/chat'));
    await untilSays(page, '.tools [role=status]', /^2,\d{3} tenants$/);
    expect(await page.locator('.bucket').count()).toBeLessThan(60);
    await page.getByLabel('Sort by').selectOption('tenant');
    await expect.poll(() => card(page, 'crowd-0000').count()).toBe(1);
    // The far end of the list is fetched when it is looked at.
    await page.evaluate('scrollTo(0, document.body.scrollHeight)');
    await expect.poll(() => card(page, 'crowd-1999').count()).toBe(1);
    expect(await page.locator('.bucket').count()).toBeLessThan(60);
    await page.getByLabel('Search tenants').fill('crowd-1234');
    await untilSays(page, '.tools [role=status]', /^1 tenant found$/);
    await expect.poll(() => page.locator('.bucket').allInnerTexts()).toEqual([expect.stringContaining('crowd-1234')]);
    expect(complaints).toEqual([]);
  });

  it('stays where it is when it is loaded again in the middle', async () => {
    const { page } = admin;
    await page.reload();
    await untilSays(page, '.tools [role=status]', /^1 tenant found$/);
    expect(await page.getByLabel('Search tenants').inputValue()).toBe('crowd-1234');
    expect(await page.getByLabel('Sort by').inputValue()).toBe('tenant');
    await page.getByRole('link', { name: 'crowd-1234' }).click();
    await untilSays(page, 'h1', 'crowd-1234');
    await page.getByText('delayed', { exact: true }).click();
    await page.locator('tbody tr').waitFor();
    await page.reload();
    await untilSays(page, 'h1', 'crowd-1234');
    await expect.poll(() => page.locator('tbody tr').count()).toBe(1);
    await page.goBack();
    await untilSays(page, '.tools [role=status]', /^1 tenant found$/);
  });

  it('shows markup, text that runs the other way and control characters as text', async () => {
    const { page, complaints } = admin;
    await page.goto(at('#/type/chat?q=img'));
    await expect.poll(() => card(page, HOSTILE[0] ?? '').count()).toBe(1);
    await page.getByLabel('Search tenants').fill('gpj');
    await expect.poll(() => card(page, 'gpj.⟨202E⟩exe').count()).toBe(1);
    await card(page, 'gpj.⟨202E⟩exe').getByRole('link').click();
    await untilSays(page, 'h1', 'gpj.⟨202E⟩exe');
    for (const tenant of HOSTILE) {
      await page.goto(at(`#/tenant/chat/${encodeURIComponent(tenant)}`));
      await page.locator('.big-bucket dd', { hasText: '1 of 1,000' }).waitFor();
    }
    expect(await page.locator('main img').count()).toBe(0);
    expect(await page.evaluate('"harmed" in window')).toBe(false);
    expect(complaints).toEqual([]);
  });

  it('says what another rate would do, and then sets it', async () => {
    const { page, complaints } = admin;
    await jobsOf('rerated', 40);
    await page.goto(at('#/tenant/ocr/rerated'));
    await untilSays(page, '.re-rate', /now 1\/s, from tenants\.rerated/);
    await page.getByLabel('Another rate').fill('nonsense');
    await untilSays(page, '.preview', /must be a rate/);
    // What it says of a rate that is none is an answer of 400, which the browser writes down.
    expect(complaints.splice(0).filter((text) => !text.includes('400'))).toEqual([]);
    await page.getByLabel('Another rate').fill('10/s');
    await untilSays(page, '.preview', /^The backlog of \d+ would end at \d\d:\d\d:\d\d instead of \d\d:\d\d:\d\d\.$/);
    await keepShot(page, 'tenant');
    expect(await seriousFaults(page)).toEqual([]);
    const { referee } = dash.system;
    const sentAt = referee.now();
    await page.getByRole('button', { name: 'Change rate' }).click();
    await untilSays(page, '.actions .outcome', /The rate is 10\/s now/);
    const terms = { ratePerSecond: 10 };
    referee.recordChange({ type: 'ocr', tenant: 'rerated', terms, sentAt, answeredAt: referee.now() });
    await untilSays(page, '.big-bucket', /rate10\/s/);
    await untilSays(page, '.big-bucket', /waiting0 of/);
    await untilSays(page, '.waits', /50 %within .* s90 %within .* s99 %within .* s/);
    await page.locator('.panel.wide .uplot').waitFor();
    await untilSays(page, '.panel.wide .chart-key', /^in [\d.,]+out [\d.,]+refused [\d.,]+$/);
    expect(complaints).toEqual([]);
  });

  it('pauses and resumes, and purges only when that was confirmed', async () => {
    const { page, complaints } = admin;
    await page.goto(at('#/tenant/chat/crowd-0001'));
    await page.getByRole('button', { name: 'Pause' }).click();
    await untilSays(page, '.page-head .badges', /paused/);
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByRole('button', { name: 'Pause' }).waitFor();
    await page.getByRole('button', { name: /Purge/ }).click();
    await untilSays(page, 'dialog', /Cancels 1 waiting job of crowd-0001/);
    expect(await seriousFaults(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await untilSays(page, '.big-bucket', /waiting1 of/);
    await page.getByRole('button', { name: /Purge/ }).click();
    await page.locator('dialog').getByRole('button', { name: 'Purge' }).click();
    await untilSays(page, '.actions .outcome', /1 cancelled/);
    await untilSays(page, '.big-bucket', /waiting0 of/);
    expect(complaints).toEqual([]);
  });

  it('submits a job, and shows its life to the end', async () => {
    const { page, complaints } = admin;
    await page.goto(at('#/submit/ocr?tenant=posting'));
    await page.getByLabel(/Payload/).fill('{"workMs": 20, "note": "it\'s <b>mine</b>"}');
    await untilSays(page, '.curl', /'\\''s <b>mine<\/b>/);
    expect(await seriousFaults(page)).toEqual([]);
    const { referee } = dash.system;
    const sentAt = referee.now();
    const posted = page.waitForResponse((response) => response.request().method() === 'POST');
    await page.getByRole('button', { name: 'Submit' }).click();
    const answer = await posted;
    const said = { status: answer.status(), body: await answer.json(), sentAt, answeredAt: referee.now() };
    referee.recordAdmission({ type: 'ocr', tenant: 'posting', cost: 1, priority: 4, delayMs: 0, ...said });
    await page.getByRole('link', { name: 'Follow it' }).click();
    await untilSays(page, '.lead', /It is completed: it ran/);
    await untilSays(page, '.life', /admitted.*released.*started.*completed/);
    await page.getByRole('button', { name: 'Show payload' }).click();
    await untilSays(page, 'pre[aria-label=payload]', /it's <b>mine<\/b>/);
    await page.getByRole('button', { name: 'Show result' }).click();
    await untilSays(page, 'pre[aria-label=result]', /"run": \d+/);
    await keepShot(page, 'job');
    expect(await seriousFaults(page)).toEqual([]);
    expect(complaints).toEqual([]);
    await witness.look('posting', idOf(said));
  });

  it('cancels a job that waits, which then never starts', async () => {
    const { page, complaints } = admin;
    const answer = await witness.enqueue({ type: 'chat', tenant: 'leaving', cost: 1, delayMs: 600_000 });
    await page.goto(at(`#/job/${idOf(answer)}?tenant=leaving`));
    await untilSays(page, '.lead', /It is delayed and starts at/);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await untilSays(page, '.lead', /It is cancelled, without having started/);
    expect(await page.getByRole('button', { name: 'Cancel' }).isVisible()).toBe(false);
    expect(complaints).toEqual([]);
  });

  it('retries a job that failed', async () => {
    const { page, complaints } = admin;
    const answer = await witness.enqueue({ type: 'ocr', tenant: 'failing', cost: 1, data: { fail: true } });
    await page.goto(at(`#/job/${idOf(answer)}?tenant=failing`));
    const life = page.locator('.life');
    const retry = page.getByRole('button', { name: 'Retry' });
    await retry.waitFor();
    const before = await life.textContent();
    await retry.click();
    await untilSays(page, '.outcome', /It waits again/);
    // It fails again, which is another end than that of before.
    await retry.waitFor();
    await expect.poll(() => life.textContent()).not.toBe(before);
    expect(complaints).toEqual([]);
  });
});

describe('with the key of a tenant', () => {
  it('shows that tenant alone, and nothing that an admin may do', async () => {
    const { page, complaints, close } = await openPage(browser);
    await signIn(page, TENANT_KEY);
    await jobsOf('own', 12);
    await expect.poll(() => page.locator('.bucket').allInnerTexts()).toEqual([expect.stringMatching(/^own\n/)]);
    await page.getByRole('link', { name: 'own', exact: true }).click();
    await untilSays(page, '.big-bucket', /rate2\/s/);
    expect(await page.locator('.actions').count()).toBe(0);
    await page.goto(at('#/tenant/ocr/acme'));
    await expect.poll(() => page.locator('.bucket').allInnerTexts()).toEqual([expect.stringMatching(/^own\n/)]);
    expect(await page.locator('body').textContent()).not.toMatch(/acme/);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel(/API key/).waitFor();
    await page.reload();
    await page.getByLabel(/API key/).waitFor();
    expect(complaints).toEqual([]);
    await close();
  });
});

describe('as it looks', () => {
  it.each(['light', 'dark'] as const)('is readable for everybody in %s colours', async (colorScheme) => {
    const { page, complaints, close } = await openPage(browser, { colorScheme });
    // Full for an hour, however long the page takes to open.
    const still = Array.from({ length: DEPTHS.still }, () => ({ type: 'ocr', data: {}, delayMs: 3_600_000 }));
    expect(await dash.post('/v1/jobs/batch', { tenant: 'still', jobs: still })).toBe(200);
    await signIn(page, ADMIN_KEY);
    await page.locator('.bucket.full').first().waitFor();
    await page.locator('.uplot').first().waitFor();
    await keepShot(page, `overview-${colorScheme}`);
    expect(await seriousFaults(page)).toEqual([]);
    const isDark = await page.evaluate('getComputedStyle(document.body).backgroundColor === "rgb(15, 22, 27)"');
    expect(isDark).toBe(colorScheme === 'dark');
    expect(complaints).toEqual([]);
    await close();
  });

  it('can be made dark or light by hand, and stays so', async () => {
    const { page } = admin;
    await page.goto(at());
    const theme = page.getByRole('button', { name: /^Colours/ });
    await theme.click();
    await theme.click();
    await untilSays(page, '.theme', /Dark/);
    await page.reload();
    await untilSays(page, '.theme', /Dark/);
    expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe('rgb(15, 22, 27)');
    await theme.click();
  });

  it('fits a phone', async () => {
    const { page, complaints, close } = await openPage(browser, { viewport: { width: 360, height: 780 } });
    await signIn(page, ADMIN_KEY);
    for (const hash of ['#/', '#/tenant/ocr/acme', '#/submit/ocr']) {
      await page.goto(at(hash));
      await page.locator('main .panel').first().waitFor();
      expect(await page.evaluate('document.documentElement.scrollWidth'), hash).toBeLessThanOrEqual(360);
      expect(await seriousFaults(page)).toEqual([]);
      await keepShot(page, `phone-${hash.split('/')[1] || 'overview'}`);
    }
    expect(complaints).toEqual([]);
    await close();
  });

  it('can be used with the keyboard alone', async () => {
    const { page } = admin;
    await page.goto(at('#/type/chat?q=crowd-0002'));
    await page.reload();
    await untilSays(page, '.tools [role=status]', /^1 tenant found$/);
    await page.keyboard.press('Tab');
    await untilSays(page, ':focus', 'Skip to the content');
    await page.keyboard.press('Enter');
    for (const _ of Array.from({ length: 40 })) {
      if ((await page.locator(':focus').textContent()) === 'crowd-0002') break;
      await page.keyboard.press('Tab');
    }
    await page.keyboard.press('Enter');
    await untilSays(page, 'h1', 'crowd-0002');
    expect(await page.evaluate('document.activeElement.id')).toBe('main');
  });
});

describe('in an outage', () => {
  it('says that Redis is away, and goes on by itself when it is back', async () => {
    const { page, complaints } = admin;
    const { referee } = dash.system;
    await page.goto(at());
    await untilSays(page, '.live', /^live$/);
    await untilSays(page, '.headline', /^ocr/);
    const from = referee.now();
    await dash.proxy.refuse();
    await untilSays(page, '#banner', /Redis is away/);
    await untilSays(page, '.live', /not live/);
    // What was known is still there to read.
    await untilSays(page, '.headline', /^ocr/);
    await keepShot(page, 'redis-away');
    await dash.proxy.pass();
    await untilSays(page, '#banner', /Back again/);
    await page.locator('#banner').waitFor({ state: 'hidden' });
    await jobsOf('acme', 5);
    await expect.poll(() => card(page, 'acme').count()).toBe(1);
    referee.recordOutage({ from, to: referee.now(), note: 'the network to Redis refused connections' });
    expect(complaints.splice(0).filter((text) => !OUTAGE.test(text))).toEqual([]);
  });

  it('says that the server is away, comes back, and is still signed in', async () => {
    const { page, complaints } = admin;
    const { referee } = dash.system;
    const from = referee.now();
    await dash.restart(() => untilSays(page, '#banner', /The server is away/));
    await untilSays(page, '#banner', /Back again/);
    await untilSays(page, '.live', /^live$/);
    referee.recordOutage({ from, to: referee.now(), note: 'the API and its worker were started again' });
    expect(complaints.splice(0).filter((text) => !OUTAGE.test(text))).toEqual([]);
  });
});

it('asked nobody else for anything, and has one stream of events open', async () => {
  const { origins, streams } = admin;
  expect([...origins]).toEqual([new URL(dash.headgate.url).origin]);
  await expect.poll(() => streams.size).toBe(1);
});

it('changed no promise: the referee saw nothing that breaks a guarantee', async () => {
  await witness.followToEnds(60_000);
  const verdict = await dash.system.referee.expectNoViolations();
  expect(verdict.seen.admitted).toBeGreaterThan(80);
  expect(RATES.rerated).toBe(1);
});
