export interface Berth {
  id: string;
  length: number;
}

export class Planner {
  constructor(private readonly berths: Berth[]) {}

  assign(length: number): Berth | undefined {
    return this.berths.find((berth) => berth.length >= length);
  }
}
