export type TideTable = Map<string, number>;

export function tideAt(table: TideTable, hour: string): number {
  return table.get(hour) ?? 0;
}
