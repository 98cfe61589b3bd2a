/** The largest number of Pods that any workload can ask for: an int32 of the API. */
export const MOST_PODS = 2 ** 31 - 1;
