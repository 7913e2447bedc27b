// Bundles charts.js with the parts of ECharts that it imports, and writes beside it what the page must carry with it:
// the script's hash for the page's content security policy, and the licences.
// SPDX-License-Identifier: Apache-2.0
import {build} from 'esbuild';
import {createHash} from 'node:crypto';
import {readFileSync, writeFileSync} from 'node:fs';

const result = await build({
  entryPoints: ['charts.js'],
  bundle: true,
  minify: true,
  format: 'iife',
  target: ['es2020'],
  charset: 'ascii',
  legalComments: 'none',  // the texts themselves are in the page
  write: false,
});
const script = result.outputFiles[0].text.trimEnd();
if (/<\/script|<!--/i.test(script)) throw new Error('the bundle would end the script element that holds it');
writeFileSync('charts.bundle.js', script);
writeFileSync('charts.hash', 'sha256-' + createHash('sha256').update(script).digest('base64'));

const version = JSON.parse(readFileSync('node_modules/echarts/package.json', 'utf8')).version;
const parts = [
  [`Apache ECharts ${version}: NOTICE`, 'node_modules/echarts/NOTICE'],
  ['Apache ECharts: LICENSE', 'node_modules/echarts/LICENSE'],
  ['d3, parts of which are in Apache ECharts: LICENSE', 'node_modules/echarts/licenses/LICENSE-d3'],
  ['ZRender: LICENSE', 'node_modules/zrender/LICENSE'],
  ['tslib: LICENSE', 'node_modules/tslib/LICENSE.txt'],
];
writeFileSync('licences.txt', parts.map(([title, path]) => `${title}\n\n${readFileSync(path, 'utf8').replaceAll('\r', '').trim()}\n`).join('\n\n'));
