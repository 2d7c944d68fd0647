import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { totalJson } from '../../../../hosts/cli/usage/json.ts';
import { usageReport } from '../../../../hosts/cli/usage/report.ts';
import { SHOWN } from './shown.ts';

const page = readFileSync(new URL('../../../../docs/usage.md', import.meta.url), 'utf8');
const block = (kind: string): string | undefined => new RegExp(`^\`\`\`${kind}\n(.*?)\n\`\`\`$`, 'ms').exec(page)?.[1];

it('docs/usage.md shows the report as it is printed', () => {
  expect(block('text report')).toBe(usageReport(SHOWN, 80).join('\n'));
});

it('docs/usage.md shows a total as it is printed', () => {
  const total = SHOWN.models[0];
  const { model, calls, input, output, estimated, unpriced, cacheRead, costMicroUsd } = total ?? expect.fail('no total');
  const asked = { model, calls, input, output, estimated, unpriced, cacheRead, costMicroUsd };
  expect(block('json total')).toBe(JSON.stringify(totalJson(asked as typeof total & object)));
});
