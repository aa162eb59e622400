/** Why an attempt parks whose model answers nobody: it is woken as soon as a probe is answered. */
export const downReason = (model: string, why: string) => `provider: ${model} answers nobody (${why})`;

/** True for the reason of such a park. */
export const isDownReason = (reason: string) => /^provider: \S+ answers nobody/.test(reason);
