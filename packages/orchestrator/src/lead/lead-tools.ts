import type { Hold } from '@crewboard/board';
import type { Actor, JobSpec, Journal, Tool } from '@crewboard/contracts';
import { createReadArtifactTool } from '@crewboard/tools';
import { ALL_ARTIFACTS, agentArtifacts } from '../artifacts/agent-artifacts.ts';
import { createBoardGetTool, createBoardListTool } from '../board-tools.ts';
import { leadCheckRules } from '../checks/check-rules.ts';
import { leadCommandRules } from '../command-tasks.ts';
import { createChecklistTool } from '../sub-agent/progress-tools.ts';
import type { AgentDependencies } from '../sub-agent/run-sub-agent.ts';
import type { Deliveries } from './deliveries.ts';
import { createBoardWaitTool, createFinishJobTool } from './end-tools.ts';
import { createAskUserTool, createSubmitPlanTool } from './people-tools.ts';
import { createBoardPlanTool } from './plan-tool.ts';
import { createBoardResolveTool } from './resolve-tool.ts';
import type { Wait } from './stall.ts';

/** One run of a lead, as its tools need it. */
interface LeadRun {
  spec: JobSpec;
  hold: Hold;
  by: Actor;
  journal: Journal;
  deliveries: Deliveries;
  wait: (requestId: string) => Promise<Wait>;
}

/** The lead's tools, in a fixed order: the same ones for the whole job, whatever may run now. */
export async function leadTools(
  { boards, artifacts, settings, workTools, checks, schemas }: AgentDependencies,
  { spec, hold, by, journal, deliveries, wait }: LeadRun,
): Promise<Tool[]> {
  const commandRules = leadCommandRules(boards, spec, settings.commands);
  const checkRules = leadCheckRules(boards, spec, settings.commands, schemas);
  return [
    // A lead looks; what is to be changed or run is a task's.
    ...(await workTools.toolsOf(spec)).filter((tool) => tool.readOnly),
    createChecklistTool(boards, hold, journal, spec.allowParallelInProgress),
    createBoardPlanTool(boards, hold, by, commandRules, checkRules),
    createBoardResolveTool(boards, hold, by),
    createBoardListTool(boards, hold.jobId),
    createBoardGetTool(boards, hold.jobId),
    createReadArtifactTool(agentArtifacts({ boards, artifacts }, hold), ALL_ARTIFACTS),
    createAskUserTool(boards, hold),
    ...(spec.plan === undefined ? [] : [createSubmitPlanTool(boards, hold, by, [commandRules, checkRules])]),
    createBoardWaitTool(boards, hold, deliveries, wait),
    createFinishJobTool(boards, hold, deliveries, (output) => checks.refuseUnfitOutput(spec, output)),
  ];
}
