export { Planner } from "./planner";
export { registerRoutes } from "./api/routes";
