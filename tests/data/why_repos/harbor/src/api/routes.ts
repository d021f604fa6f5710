import { Planner } from "../planner";

export function registerRoutes(planner: Planner): string[] {
  return ["/berths", "/tides", String(planner.assign(10)?.id)];
}
