/** Where everything of Flux is in a Pod, and what it is called there: shared by the scripts, the objects and the Pods. */
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
  /** Of every broker. */
  port: 8050,
  /** The GPUs of one Pod, which only the Pod knows: set in the runner container at admission where there are some. */
  gpusVariable: 'MUSTER_FLUX_GPUS',
  /** How often a follower whose broker failed tries again, and after how many seconds: for the environment of a Pod. */
  retriesVariable: 'MUSTER_FLUX_RETRIES',
  secondsVariable: 'MUSTER_FLUX_RETRY_SECONDS',
} as const;

/** The ConfigMap of a gang: `init.sh`, `entrypoint.sh` and what they read. */
export const fluxConfigMapName = (gang: string): string => `${gang}-flux-entrypoint`;
/** The Secret of a gang, with the one key `curve.cert`. */
export const fluxSecretName = (gang: string): string => `${gang}-flux-curve`;

export const INIT_COMMAND = ['/bin/bash', '/etc/flux-config/init.sh'];
/** What the runner container runs instead of its own command, which follows it byte for byte; empty: interactive. */
export const ENTRYPOINT_COMMAND = ['/bin/bash', '/etc/flux-config/entrypoint.sh', '--'];
