/** `metav1.Time`: RFC 3339 in whole seconds. */
export const kubeTime = (now: number): string => `${new Date(now).toISOString().slice(0, 19)}Z`;
