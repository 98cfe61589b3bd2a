import { FLUX_ENTRYPOINT } from '../../api/names.ts';

/** Flux's paths and names in a Pod, shared by the scripts, the objects and the Pods. */
export const FLUX = {
  /** The init container that copies Flux out of its image. */
  installer: 'flux-installer',
  volumes: {
    install: { name: 'flux-install', mountPath: '/mnt/flux' },
    software: { name: 'spack-install', mountPath: '/opt/software' },
    config: { name: 'flux-config', mountPath: '/etc/flux-config' },
    curve: { name: 'flux-curve', mountPath: '/curve' },
    memory: { name: 'shared-memory', mountPath: '/dev/shm' },
  },
  /** Port of every broker. */
  port: 8050,
  /** Number of the Pod's GPUs, which only the Pod knows: set in the runner container at admission when it has any. */
  gpusVariable: 'MUSTER_FLUX_GPUS',
  /** How often a follower restarts a failed broker, and after how many seconds: may be set in a Pod's environment. */
  retriesVariable: 'MUSTER_FLUX_RETRIES',
  secondsVariable: 'MUSTER_FLUX_RETRY_SECONDS',
} as const;

/** Name of a gang's ConfigMap: `init.sh`, `entrypoint.sh` and the files that they read. */
export const fluxConfigMapName = (gang: string): string => `${gang}-flux-entrypoint`;
/** Name of a gang's Secret, with the only key `curve.cert`. */
export const fluxSecretName = (gang: string): string => `${gang}-flux-curve`;

export const INIT_COMMAND = ['/bin/bash', '/etc/flux-config/init.sh'];
/**
 * Command of the runner container. The container's own command follows it unchanged; without one Flux runs interactively.
 */
export const ENTRYPOINT_COMMAND = ['/bin/bash', FLUX_ENTRYPOINT, '--'];
