// Debian's Chromium without its talk to the outside, for the browser tests.
// SPDX-License-Identifier: Apache-2.0
import {chromium} from 'playwright-core';

export async function launch(executable) {
  return chromium.launch({
    executablePath: executable,
    args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-component-update',
           '--disable-sync', '--disable-quic'],
  });
}
