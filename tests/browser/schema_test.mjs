// Validates the JSON report against its schema, and shows that the schema refuses what it should.
// usage: node schema_test.mjs SCHEMA FOLDER   (FOLDER holds sample.json, hostile.json and empty.json)
// SPDX-License-Identifier: Apache-2.0
import {strict as assert} from 'node:assert';
import {readFileSync} from 'node:fs';

import Ajv from 'ajv/dist/2020.js';

const [schema_path, folder] = process.argv.slice(2);
const read = (path) => JSON.parse(readFileSync(path, 'utf8'));
const validate = new Ajv({strict: true, allErrors: true}).compile(read(schema_path));

for (const name of ['sample', 'hostile', 'empty']) {
  const text = readFileSync(`${folder}/${name}.json`, 'utf8');
  assert.ok(/^[\x0a\x20-\x7e]*$/.test(text), `${name}.json is not plain ASCII`);
  assert.ok(validate(JSON.parse(text)), `${name}.json: ${JSON.stringify(validate.errors?.slice(0, 5), null, 2)}`);
  console.log(`ok    ${name}.json follows the schema`);
}

// Each of these makes the sample wrong in one way.
const spoilt = {
  'a missing verdict': (report) => { delete report.verdict; },
  'an unknown answer': (report) => { report.verdict.answer = 'maybe'; },
  'a number as text': (report) => { report.headline[0].quantity.value = '16'; },
  'an unknown unit': (report) => { report.headline[0].quantity.unit = 'GB'; },
  'a quantity without its look': (report) => { delete report.headline[0].quantity.shown; },
  'an unknown field': (report) => { report.sections[0].tables[0].colour = 'red'; },
  'another schema version': (report) => { report.schema = 2; },
};
for (const [what, spoil] of Object.entries(spoilt)) {
  const report = read(`${folder}/sample.json`);
  spoil(report);
  assert.ok(!validate(report), `the schema accepts ${what}`);
  console.log(`ok    the schema refuses ${what}`);
}
