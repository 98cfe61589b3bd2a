/**
 * The syntaxes of names in Kubernetes (apimachinery `util/validation`). The length is checked before a pattern runs, and
 * every pattern is anchored and linear, so no string takes long to check.
 */
const DNS_LABEL = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/;
const DNS_SUBDOMAIN = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/;
const NAME_PART = /^[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?$/;

export const MAX_LABEL_VALUE = 63;

export const isDnsLabel = (text: string): boolean => text.length <= 63 && DNS_LABEL.test(text);
/** Whether the text is a name of a Service, which becomes a DNS name and must begin with a letter. */
export const isServiceName = (text: string): boolean => isDnsLabel(text) && /^[a-z]/.test(text);
export const isDnsSubdomain = (text: string): boolean => text.length <= 253 && DNS_SUBDOMAIN.test(text);
/** Whether the text is a label value that is not empty. */
export const isLabelValue = (text: string): boolean => text.length <= MAX_LABEL_VALUE && NAME_PART.test(text);

/** Whether the text is a label key: an optional DNS subdomain and `/`, then a name of at most 63 characters. */
export function isLabelKey(text: string): boolean {
  const slash = text.indexOf('/');
  if (slash < 0) return isLabelValue(text);
  return isDnsSubdomain(text.slice(0, slash)) && isLabelValue(text.slice(slash + 1));
}
