import type { Attributes, Measurement } from './model.ts';
import { METRIC } from './names.ts';

/** The sums of one metric under one set of attributes, since the last time they were taken. */
export interface Point {
  readonly metric: string;
  readonly attributes: Attributes;
  count: number;
  sum: number;
  min: number;
  max: number;
  /** One more than there are bounds. */
  readonly buckets: number[];
}

/** Bucket bounds that the conventions ask for; a value belongs to the first bound that is not below it. */
export const BOUNDS: Readonly<Record<string, readonly number[]>> = {
  [METRIC.tokens]: Array.from({ length: 14 }, (_, power) => 4 ** power),
  [METRIC.duration]: Array.from({ length: 14 }, (_, power) => 0.01 * 2 ** power),
};

export const UNITS: Readonly<Record<string, string>> = { [METRIC.tokens]: '{token}', [METRIC.duration]: 's' };

/** Sets of attributes kept at a time; a measurement of a further set is not counted. */
const MAX_POINTS = 500;

export interface Histograms {
  /** False where there is no room for another set of attributes. */
  add(measurement: Measurement): boolean;
  /** What was added since the last `take`. */
  take(): readonly Point[];
}

function empty({ metric, attributes }: Measurement): Point {
  const buckets = Array<number>((BOUNDS[metric]?.length ?? 0) + 1).fill(0);
  return { metric, attributes, count: 0, sum: 0, min: Number.POSITIVE_INFINITY, max: Number.NEGATIVE_INFINITY, buckets };
}

export function createHistograms(): Histograms {
  let points = new Map<string, Point>();
  return {
    add(measurement) {
      const { metric, value, attributes } = measurement;
      const key = JSON.stringify([metric, Object.entries(attributes).sort()]);
      const point = points.get(key) ?? empty(measurement);
      if (!points.has(key) && points.size >= MAX_POINTS) return false;
      points.set(key, point);
      point.count += 1;
      point.sum += value;
      point.min = Math.min(point.min, value);
      point.max = Math.max(point.max, value);
      const at = (BOUNDS[metric] ?? []).findIndex((bound) => value <= bound);
      const bucket = at === -1 ? point.buckets.length - 1 : at;
      point.buckets[bucket] = (point.buckets[bucket] ?? 0) + 1;
      return true;
    },
    take() {
      const taken = [...points.values()];
      points = new Map();
      return taken;
    },
  };
}
