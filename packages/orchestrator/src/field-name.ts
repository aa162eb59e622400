/** How the name of a field is written in a placeholder, in the notation of regular expressions with the flag `u`. */
export const FIELD_NAME = String.raw`[\p{L}_][\p{L}\p{M}\p{N}_\-]*`;
