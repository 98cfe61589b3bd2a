import type { Fault } from '../../api/fault.ts';
import { own, ownString, type Json } from '../../json/json.ts';
import {
  HPC_POLICY_API_VERSION,
  HPC_POLICY_KIND,
  LABEL_POD_CLIQUE,
  LABEL_POD_GANG,
  POD_GANG_API_VERSION,
  POD_GANG_KIND,
} from '../../api/names.ts';
import type { PodGang } from '../../api/pod-gang.ts';
import { parsePodGang } from '../../gang/parse-pod-gang.ts';
import { checkGangName, checkMinimums } from '../../gang/rules/check-spec.ts';
import {
  parseHpcPolicy,
  policyMissing,
  policyNameOf,
  type HpcPolicy,
} from '../../preparers/policy/hpc-policy.ts';
import type { PreparerFactory, StoredPolicy } from '../../preparers/preparer-factory.ts';
import { managersOf, verdictOnGang, verdictOnPolicy } from '../../preparers/registry.ts';
import { podTemplatesOf } from '../../workloads/pod-templates.ts';
import { ReceivedPod } from '../../admission/pod-reader.ts';
import { amountsText } from '../../k8s/container-amounts.ts';
import { messageOf } from '../../errors.ts';
import { runnerOf } from '../../preparers/flux/check-pod.ts';
import type { FluxSettings } from '../../preparers/flux/settings.ts';
import { asksOf } from '../../preparers/hosts/asks.ts';
import type { SourceObject } from '../input/source-object.ts';
import { findingOf, type Finding } from '../output/findings.ts';

/** A gang of the input that names an HPCPolicy, with the objects of the input that concern it. */
export interface InputHpcGang {
  readonly gang: PodGang;
  /** Undefined where the input has no policy of that name in the gang's namespace. */
  readonly policy: HpcPolicy | undefined;
  /** `spec.subdomain` of its Pods, where they set one. */
  readonly subdomain: string | undefined;
  /** Cores and GPUs that its Pods ask for, by group. */
  readonly asks: ReadonlyMap<string, string>;
  readonly missing: Finding | undefined;
  /** Faults of the gang alone and of the policy alone. */
  readonly alone: readonly Finding[];
  /** Faults of the gang under this policy. */
  readonly together: readonly Finding[];
  /** Warnings about the gang under this policy, which stop nothing. */
  readonly warnings: readonly Finding[];
}

interface Sourced<T> {
  readonly source: SourceObject;
  readonly value: T;
  readonly faults: readonly Fault[];
}

/** Collects gangs, policies and Pods of the input, which may come in any order, and combines them at the end. */
export class HpcGangs {
  readonly #gangs: Sourced<PodGang>[] = [];
  readonly #policies: Sourced<HpcPolicy>[] = [];
  /** The Pods, by namespace and name of the gang. */
  readonly #pods = new Map<string, ReceivedPod[]>();
  readonly #namespace: string;
  readonly #others: readonly PreparerFactory[];

  /**
   * @param namespace of objects without one
   * @param others preparers of modules that a policy may ask for, beside the built-in ones
   */
  constructor(namespace: string, others: readonly PreparerFactory[] = []) {
    this.#namespace = namespace;
    this.#others = others;
  }

  /** Adds an object. @returns whether the object is a PodGang or an HPCPolicy */
  add(source: SourceObject): boolean {
    const { object } = source;
    const kind = `${ownString(object, 'apiVersion') ?? ''} ${ownString(object, 'kind') ?? ''}`;
    const namespace = ownString(own(object, 'metadata'), 'namespace') || this.#namespace;
    if (kind === `${POD_GANG_API_VERSION} ${POD_GANG_KIND}`) {
      const { gang, faults } = parsePodGang(object, namespace);
      this.#gangs.push({ source, value: gang, faults });
      return true;
    }
    if (kind === `${HPC_POLICY_API_VERSION} ${HPC_POLICY_KIND}`) {
      const { policy, faults } = parseHpcPolicy(object, namespace, managersOf(this.#others));
      const wrong = verdictOnPolicy(policy, this.#others).faults;
      this.#policies.push({ source, value: policy, faults: [...faults, ...wrong] });
      return true;
    }
    const pods = kind === 'v1 Pod' ? [object] : podTemplatesOf(object).map(({ template }) => template);
    for (const one of pods) {
      const pod = new ReceivedPod(one, namespace);
      const gang = pod.label(LABEL_POD_GANG);
      if (gang !== undefined) this.#pods.getOrInsertComputed(`${namespace}/${gang}`, () => []).push(pod);
    }
    return false;
  }

  /** PodGangs by namespace and name; of two with the same name the later one counts, as `kubectl apply` would leave it. */
  get gangs(): ReadonlyMap<string, PodGang> {
    return new Map(this.#gangs.map(({ value }) => [`${value.namespace}/${value.name}`, value]));
  }

  /** HPCPolicies, as {@link gangs}. */
  get policies(): ReadonlyMap<string, StoredPolicy> {
    return new Map(
      this.#policies.map(({ value: policy, faults }) => [
        `${policy.namespace}/${policy.name}`,
        { policy, wrong: faults[0]?.field },
      ]),
    );
  }

  /** The gangs that name an HPCPolicy, in the order of the input. */
  all(): InputHpcGang[] {
    return this.#gangs.flatMap((sourced) => {
      const name = policyNameOf(sourced.value);
      return name === undefined ? [] : [this.#together(sourced, name)];
    });
  }

  #together({ source, value: gang, faults }: Sourced<PodGang>, name: string): InputHpcGang {
    const named = this.#policies.filter(({ value }) => value.name === name);
    // Of two policies with the same name the later one counts, as `kubectl apply` would leave it.
    const found = named.findLast(({ value }) => value.namespace === gang.namespace);
    const pods = this.#pods.get(`${gang.namespace}/${gang.name}`) ?? [];
    const subdomain = pods.map((pod) => pod.at(['spec', 'subdomain'])).findLast(isSubdomain);
    const elsewhere = [...new Set(named.map(({ value }) => value.namespace))].sort();
    const judged = found && verdictOnGang(gang, found.value, subdomain, this.#others);
    const stopped = [...faults, ...checkGangName(gang), ...checkMinimums(gang)];
    const alone = [
      ...stopped.map((one) => findingOf(source, one)),
      ...(found?.faults ?? []).map((one) => findingOf(found?.source ?? source, one)),
    ];
    // The field of such a fault may belong to the gang or to the policy.
    const together = (judged?.faults ?? [])
      // Faults of the policy alone are in `alone`.
      .filter(({ message }) => !(found?.faults ?? []).some((one) => one.message === message))
      .map((one) => findingOf(one.field.startsWith('spec.hpc.') ? (found?.source ?? source) : source, one));
    const told = (judged?.warnings ?? []).map((message) => ({ field: '', message }));
    const { asks, differ } = asksUnder(found?.value.flux, pods);
    if (differ !== undefined) told.push({ field: 'spec.podgroups', message: differ });
    const warnings = told.map((one): Finding => ({
      ...findingOf(source, { ...one, rule: 'AdmissionWarning' }),
      severity: 'warning',
    }));
    const missing = found === undefined ? findingOf(source, policyMissing(name, elsewhere)) : undefined;
    return { gang, policy: found?.value, subdomain, asks, missing, alone, together, warnings };
  }
}

const isSubdomain = (value: Json | undefined): value is string => typeof value === 'string' && value !== '';

function asksUnder(
  flux: FluxSettings | undefined,
  pods: readonly ReceivedPod[],
): { readonly asks: ReadonlyMap<string, string>; readonly differ?: string } {
  // Nobody else is told of them.
  if (flux === undefined) return { asks: new Map() };
  const given = pods.map((pod) => {
    const runner = runnerOf(pod, flux);
    const asks = 'rule' in runner ? undefined : amountsText(runner.container);
    return { group: pod.label(LABEL_POD_CLIQUE) ?? '', asks };
  });
  try {
    return { asks: asksOf(given) };
  } catch (thrown) {
    return { asks: new Map(), differ: messageOf(thrown) };
  }
}
