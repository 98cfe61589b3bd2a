import { ownList, ownObject, ownString, type Json, type JsonObject } from '../../json/json.ts';

export const podSpecOf = (deployment: JsonObject | undefined): JsonObject | undefined =>
  ownObject(ownObject(ownObject(deployment, 'spec'), 'template'), 'spec');

const named = (list: readonly Json[] | undefined, name: string): Json | undefined =>
  list?.find((one) => ownString(one, 'name') === name);

const volume = (deployment: JsonObject | undefined, name: string): Json | undefined =>
  named(ownList(podSpecOf(deployment), 'volumes'), name);

/** The ConfigMap that Muster's Deployment mounts: its name has a hash of the content at its end. */
export const mountedConfigMap = (deployment: JsonObject | undefined): string | undefined =>
  ownString(ownObject(volume(deployment, 'config'), 'configMap'), 'name');

/** The Secret with the serving certificate; that of manifests/base where there is no Deployment. */
export const mountedSecret = (deployment: JsonObject | undefined): string =>
  ownString(ownObject(volume(deployment, 'certs'), 'secret'), 'secretName') ?? 'muster-serving-cert';

/** The container `muster`, or the first. */
function containerOf(deployment: JsonObject | undefined): Json | undefined {
  const containers = ownList(podSpecOf(deployment), 'containers');
  return named(containers, 'muster') ?? containers?.[0];
}

export const imageOf = (deployment: JsonObject): string => ownString(containerOf(deployment), 'image') ?? '';

/** What its environment says by itself; what it takes from elsewhere is left out. */
export const environmentOf = (deployment: JsonObject | undefined): Readonly<Record<string, string>> =>
  Object.fromEntries(
    (ownList(containerOf(deployment), 'env') ?? []).flatMap((one) => {
      const [name, value] = [ownString(one, 'name'), ownString(one, 'value')];
      return name === undefined || value === undefined ? [] : [[name, value]];
    }),
  );
