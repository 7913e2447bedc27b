// Opens the HTML report as a reader would: on a desk and a phone, light and dark, without JavaScript, and on paper.
// usage: node report_test.mjs CHROMIUM FOLDER charts|tables   (FOLDER holds sample.html and hostile.html)
// SPDX-License-Identifier: Apache-2.0
import {strict as assert} from 'node:assert';
import {statSync} from 'node:fs';
import {pathToFileURL} from 'node:url';

import {launch} from './launch.mjs';

const [executable, folder, expected] = process.argv.slice(2);
const with_charts = expected === 'charts';
const desk = {width: 1280, height: 900};
const phone = {width: 390, height: 844};
const browser = await launch(executable);
let passed = 0;

// A page that notes everything it says and asks for.
async function open(name, options) {
  const context = await browser.newContext({offline: false, ...options});
  const page = await context.newPage();
  const seen = {console: [], errors: [], requests: []};
  page.on('console', (message) => seen.console.push(`${message.type()}: ${message.text()}`));
  page.on('pageerror', (error) => seen.errors.push(error.message));
  page.on('request', (request) => seen.requests.push(request.url()));
  page.on('dialog', (dialog) => {
    seen.errors.push('dialog: ' + dialog.message());
    dialog.dismiss();
  });
  const url = pathToFileURL(`${folder}/${name}.html`).href;
  await page.goto(url);
  await page.waitForTimeout(200);
  return {page, seen, url, close: () => context.close()};
}

async function test(sentence, body) {
  try {
    await body();
    passed += 1;
    console.log(`ok    ${sentence}`);
  } catch (error) {
    console.log(`FAILED ${sentence}\n${error.stack}`);
    process.exitCode = 1;
  }
}

function assert_quiet(seen, url) {
  assert.deepEqual(seen.errors, []);
  assert.deepEqual(seen.console, []);
  assert.deepEqual(seen.requests, [url]);
}

const overflow = () => document.documentElement.scrollWidth - window.innerWidth;

for (const name of ['sample', 'hostile', 'empty']) {
  for (const colorScheme of ['light', 'dark']) {
    await test(`${name}, ${colorScheme}: nothing on the console, no request beyond the file, no overflow`, async () => {
      const {page, seen, url, close} = await open(name, {viewport: desk, colorScheme});
      await page.screenshot({path: `${folder}/${name}-${colorScheme}.png`, fullPage: true});
      assert.ok(await page.evaluate(overflow) <= 0);
      assert_quiet(seen, url);
      await close();
    });
  }
  await test(`${name}: fits the width of a phone`, async () => {
    const {page, seen, url, close} = await open(name, {viewport: phone, colorScheme: 'light'});
    await page.screenshot({path: `${folder}/${name}-phone.png`, fullPage: true});
    assert.ok(await page.evaluate(overflow) <= 0, `wider than the phone by ${await page.evaluate(overflow)} pixels`);
    assert_quiet(seen, url);
    await close();
  });
}

await test('dark and light differ, and every text can be read on its paper', async () => {
  const papers = [];
  for (const colorScheme of ['light', 'dark']) {
    const {page, close} = await open('sample', {viewport: desk, colorScheme});
    const look = await page.evaluate(() => {
      const luminance = (colour) => {
        const parts = colour.match(/\d+/g).slice(0, 3).map((part) => part / 255);
        const linear = parts.map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
      };
      const paper = luminance(getComputedStyle(document.body).backgroundColor);
      const contrasts = [...document.querySelectorAll('p, td, th, dd, dt, h1, h2, h3, summary, .severity, .word, .reason')].map((node) => {
        const ink = luminance(getComputedStyle(node).color);
        return (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
      });
      return {paper, worst: Math.min(...contrasts)};
    });
    papers.push(look.paper);
    assert.ok(look.worst >= 4.5, `${colorScheme}: contrast ${look.worst}`);  // WCAG 2.1 AA for body text
    await close();
  }
  assert.ok(papers[0] > 0.9 && papers[1] < 0.1);
});

await test(with_charts ? 'every chart is drawn' : 'without the chart library, every chart is a table', async () => {
  const {page, close} = await open('sample', {viewport: desk});
  const charts = await page.evaluate(() => [...document.querySelectorAll('.chart')].map((figure) => ({
    paths: figure.querySelectorAll('.plot svg path').length,
    texts: [...figure.querySelectorAll('.plot svg text')].map((node) => node.textContent),
    label: figure.querySelector('.plot').getAttribute('aria-label'),
    numbers: figure.querySelectorAll('details.numbers tbody tr').length,
    open: figure.querySelector('details.numbers').open,
  })));
  assert.equal(charts.length, 4);
  for (const chart of charts) {
    assert.ok(chart.numbers > 0 && chart.label.length > 20);
    assert.equal(chart.open, !with_charts);
    assert.equal(chart.paths > 10, with_charts);
  }
  const without = await page.locator('.without-charts').count();
  assert.equal(without, with_charts ? 0 : 1);
  if (with_charts) {
    // In the budget: the limit's label, a memory tick, a category and a series of the legend.
    for (const text of ['capacity 24.00 GiB', '16 GiB', 'chat, 4k', 'KV cache']) assert.ok(charts[0].texts.includes(text), text);
    // Working sets on a logarithmic axis, and rates with their unit.
    for (const text of ['1 MiB', '100 GB/s']) assert.ok(charts[3].texts.includes(text), text);
  }
  await close();
});

if (with_charts) {
  await test('a point tells its numbers when it is pointed at', async () => {
    const {page, close} = await open('sample', {viewport: desk});
    const plot = page.locator('.chart').first().locator('.plot');
    await plot.scrollIntoViewIfNeeded();
    const box = await plot.boundingBox();
    let found = '';
    for (let up = 0.9; up > 0.4 && !found.includes('weights'); up -= 0.04) {
      await page.mouse.move(box.x + box.width * 0.22, box.y + box.height * up - 40);
      await page.waitForTimeout(50);
      found = await page.evaluate(() => document.querySelector('.tip')?.textContent ?? '');
    }
    assert.ok(found.includes('weights') && found.includes('14.96 GiB'), found);
    await close();
  });
  await test('a long legend takes no room from its chart', async () => {
    const {page, close} = await open('sample', {viewport: phone});
    const heights = await page.evaluate(() => [...document.querySelectorAll('.plot svg')].map((svg) => svg.getBoundingClientRect().height));
    assert.ok(heights[2] > heights[1] + 80, heights.join(' '));  // ten series need at least three rows more than four
    await close();
  });
  await test('charts follow the width of the window', async () => {
    const {page, close} = await open('sample', {viewport: desk});
    await page.setViewportSize(phone);
    await page.waitForTimeout(300);
    assert.ok(await page.evaluate(overflow) <= 0);
    const widths = await page.evaluate(() => [...document.querySelectorAll('.plot svg')].map((svg) => svg.getBoundingClientRect().width));
    for (const width of widths) assert.ok(width > 300 && width <= 390);
    await close();
  });
}

await test('without JavaScript every number is there and in sight', async () => {
  const {page, seen, url, close} = await open('sample', {viewport: desk, javaScriptEnabled: false});
  assert.deepEqual(seen.requests, [url]);
  // In a table that is folded no more than the page's own summary folds it.
  assert.equal(await page.locator('details.numbers[open]').count(), 4);
  assert.equal(await page.locator('.plot >> visible=true').count(), 0);
  assert.ok((await page.locator('#content').textContent()).includes('295 GFLOP/s'));
  await close();
});

await test('nothing that came from outside became an element', async () => {
  const {page, seen, url, close} = await open('hostile', {viewport: desk});
  const found = await page.evaluate(() => ({
    scripts: document.querySelectorAll('script').length,
    title: document.title,
    heading: document.querySelector('h1').textContent,
    text: document.body.textContent,
  }));
  assert.equal(found.scripts, with_charts ? 2 : 0);
  assert.ok(found.heading.startsWith("<script>alert('x')</script> \"quoted\" & | `code` </script><!--"));
  assert.ok(!/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u202e]/.test(found.text));
  assert_quiet(seen, url);
  await close();
});

await test('a screen reader finds language, headings, and headers of every table', async () => {
  const {page, close} = await open('sample', {viewport: desk});
  const found = await page.evaluate(() => ({
    lang: document.documentElement.lang,
    levels: [...document.querySelectorAll('h1, h2, h3')].map((node) => Number(node.tagName[1])),
    bare: [...document.querySelectorAll('th')].filter((node) => !node.scope).length,
    dead: [...document.querySelectorAll('a[href^="#"]')].filter((link) => !document.getElementById(link.hash.slice(1))).length,
    ids: [...document.querySelectorAll('[id]')].map((node) => node.id),
  }));
  assert.equal(found.lang, 'en');
  assert.equal(found.levels.filter((level) => level === 1).length, 1);
  found.levels.reduce((before, level) => (assert.ok(level <= before + 1), level));
  assert.equal(found.bare, 0);
  assert.equal(found.dead, 0);
  assert.equal(new Set(found.ids).size, found.ids.length);
  await close();
});

await test('paper is light, wide enough for every chart, and shows the folded tables', async () => {
  const {page, close} = await open('sample', {viewport: desk, colorScheme: 'dark'});
  const pdf = `${folder}/sample.pdf`;
  await page.pdf({path: pdf, format: 'A4'});
  assert.ok(statSync(pdf).size > 20000);
  await page.setViewportSize({width: 680, height: 960});  // about the printed area of A4
  await page.emulateMedia({media: 'print'});
  await page.evaluate(() => window.dispatchEvent(new Event('beforeprint')));
  const found = await page.evaluate(() => ({
    paper: getComputedStyle(document.body).backgroundColor,
    wide: document.documentElement.scrollWidth - window.innerWidth,
    charts: [...document.querySelectorAll('.plot')].map((plot) => {
      const svg = plot.querySelector('svg');
      return svg ? svg.getBoundingClientRect().right - plot.getBoundingClientRect().right : 0;
    }),
    hidden: [...document.querySelectorAll('details.long tbody tr')].filter((row) => !row.checkVisibility()).length,
    long: document.querySelectorAll('details.long tbody tr').length,
  }));
  assert.equal(found.paper, 'rgb(255, 255, 255)');
  assert.ok(found.wide <= 0);
  for (const beyond of found.charts) assert.ok(beyond <= 1);
  assert.equal(found.long, 40);
  assert.equal(found.hidden, 0);
  await close();
});

await browser.close();
console.log(`${passed} passed`);
