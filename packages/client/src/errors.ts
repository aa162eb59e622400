import { CrewboardError, ErrorCode } from '@crewboard/contracts';

/**
 * True for an error of Crewboard's, with codes given for one of these. Told by its looks, so that it also knows the
 * errors of another copy of the package.
 */
export function isCrewboardError<Code extends ErrorCode = ErrorCode>(
  error: unknown,
  ...codes: readonly Code[]
): error is CrewboardError & { readonly code: Code } {
  if (!(error instanceof Error) || error.name !== CrewboardError.name || !('code' in error)) return false;
  const { data: code } = ErrorCode.safeParse(error.code);
  return code !== undefined && (codes.length === 0 || codes.some((one) => one === code));
}
