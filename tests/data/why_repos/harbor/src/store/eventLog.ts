export class EventLog {
  private readonly events: string[] = [];

  append(event: string): void {
    this.events.push(event);
  }
}
