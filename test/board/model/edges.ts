import type { Link } from './adds.ts';
import { edgeState } from './derive.ts';
import type { Edge, ModelBoard, ModelTask } from './state.ts';

/** Edges as they come and go. */

export function newEdge(board: ModelBoard, link: Link): Edge {
  board.edges += 1;
  return { ...link, made: board.edges, told: edgeState(board, link) };
}

/** Makes a task depend on the completion of another one; an edge that was there takes that condition. */
export function addDependency(board: ModelBoard, task: ModelTask, on: number): void {
  const old = task.dependsOn.find((edge) => edge.on === on);
  if (old?.condition === 'completed') return;
  const edge = newEdge(board, { on, condition: 'completed' });
  if (old === undefined) {
    task.dependsOn.push(edge);
  } else {
    task.dependsOn = task.dependsOn.map((other) => (other === old ? edge : other));
    restartSlices(board, on);
  }
}

/** An edge has gone: what a slice has passed may have moved up. */
export function restartSlices(board: ModelBoard, on: number): void {
  for (const slice of [...board.slices, ...board.cascades]) if (slice.task === on) slice.from = 0;
}
