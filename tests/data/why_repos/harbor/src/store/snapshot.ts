export function takeSnapshot(events: string[]): string {
  return events.join("\n");
}
