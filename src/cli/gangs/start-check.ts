import { own, ownString, type JsonObject } from '../../json/json.ts';
import {
  HPC_POLICY_API_VERSION,
  HPC_POLICY_KIND,
  LABEL_GANG,
  POD_GANG_API_VERSION,
  POD_GANG_KIND,
} from '../../api/names.ts';
import { keyed } from '../../text/printable.ts';
import { parsePodGang } from '../../gang/parse-pod-gang.ts';
import { policyNameOf } from '../../preparers/policy/hpc-policy.ts';
import { askingWorkload } from '../../workloads/asking-workload.ts';
import { groupsWithoutLabel } from '../../workloads/check-workload.ts';
import { nameOf } from '../../workloads/controlling.ts';
import type { GangKind } from '../../workloads/kind.ts';
import { gangName } from '../../workloads/gang-names.ts';
import { gangNumbers, isIdle } from '../../workloads/gang-numbers.ts';

/** Reads every object of an input, and finds out whether it has a gang that can never start. */
export class StartCheck {
  readonly #namespace: string;
  readonly #kinds: readonly GangKind[] | undefined;
  readonly #gangs = new Set<string>();
  readonly #policies = new Set<string>();
  /** HPCPolicies that PodGangs name. */
  readonly #named = new Set<string>();
  /** Gangs of workloads with a group whose Pods lack the gang's label. */
  readonly #lacking = new Set<string>();

  /**
   * @param namespace of objects without one
   * @param kinds workloads whose Pods may ask for a gang; default: the built-in kinds
   */
  constructor(namespace: string, kinds?: readonly GangKind[]) {
    this.#namespace = namespace;
    this.#kinds = kinds;
  }

  /** Adds an object. @returns path of the gang label on a workload that has no Pods now, and so no gang */
  add(object: JsonObject): string | undefined {
    const title = `${ownString(object, 'apiVersion') ?? ''} ${ownString(object, 'kind') ?? ''}`;
    const metadata = own(object, 'metadata');
    const namespace = ownString(metadata, 'namespace') || this.#namespace;
    const inNamespace = (name: string): string => `${namespace}/${name}`;
    if (title === `${POD_GANG_API_VERSION} ${POD_GANG_KIND}`) {
      const { gang } = parsePodGang(object, namespace);
      this.#gangs.add(inNamespace(gang.name));
      const policy = policyNameOf(gang);
      if (policy !== undefined) this.#named.add(inNamespace(policy));
      return undefined;
    }
    if (title === `${HPC_POLICY_API_VERSION} ${HPC_POLICY_KIND}`) {
      this.#policies.add(inNamespace(ownString(metadata, 'name') ?? ''));
      return undefined;
    }
    const asking = askingWorkload(object, this.#kinds);
    if (asking?.by === undefined) return undefined;
    const { workload, kind } = asking.by;
    if (isIdle(gangNumbers(workload, kind), kind)) {
      return keyed(`${asking.templates[0]?.path}.metadata.labels`, LABEL_GANG);
    }
    if (groupsWithoutLabel(asking).length > 0) {
      this.#lacking.add(inNamespace(gangName(kind.short, nameOf(workload))));
    }
    return undefined;
  }

  /** Whether the input has a gang that can never start. A written PodGang may leave out a group that its workload has. */
  get neverStarts(): boolean {
    const { size } = this.#lacking.difference(this.#gangs);
    return size > 0 || this.#named.difference(this.#policies).size > 0;
  }
}
