/**
 * A module resolve hook: also accepts the `@crewboard/source` condition of the workspace packages' `exports`, which points
 * at their TypeScript. It runs before tsx's hooks, which pass the conditions on.
 */
export function resolve(specifier, context, nextResolve) {
  return nextResolve(specifier, { ...context, conditions: ['@crewboard/source', ...context.conditions] });
}
