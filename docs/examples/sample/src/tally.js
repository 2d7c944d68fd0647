import { readFileSync } from 'node:fs';

export function tally(text) {
  const totals = new Map();
  for (const line of text.trim().split('\n').slice(1)) {
    const [person, , hours] = line.split(',');
    // FIXME: a day with more than 24 hours is added like any other.
    totals.set(person, (totals.get(person) ?? 0) + Number(hours));
  }
  return totals;
}

for (const [person, hours] of tally(readFileSync('hours.csv', 'utf8'))) console.log(`${person}: ${hours} h`);
