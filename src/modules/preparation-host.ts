import type { Json } from '../json/json.ts';
import { ReceivedPod } from '../admission/pod-reader.ts';
import type { HpcGang } from '../preparers/preparer-factory.ts';
import type { PreparationModule } from '../preparers/preparation-module.ts';
import { configure, importModule } from './import-module.ts';
import type {
  LoadConfigured,
  ObjectsRequest,
  ModuleOperation,
  PrepareRequest,
  EncodedHpcGang,
  ValidateRequest,
} from './wire.ts';
import { recorded } from './pod-edits.ts';

const gangOf = ({ annotations, ...rest }: EncodedHpcGang): HpcGang => ({
  ...rest,
  annotations: new Map(annotations),
});

/** The side of the wire in a preparation's process. */
export class PreparationHost {
  readonly #module: PreparationModule;

  private constructor(module: PreparationModule) {
    this.#module = module;
  }

  static async load({ file, field, config }: LoadConfigured): Promise<PreparationHost> {
    const module = await importModule('preparation', file, field);
    configure('preparation', module, config);
    return new PreparationHost(module);
  }

  /** Facts that the preparation states when it is loaded. */
  get facts(): unknown {
    const { name, contractVersion, patchSurface } = this.#module;
    return { name, contractVersion, patchSurface };
  }

  /** The call that answers an operation; undefined for operations that preparations do not have. */
  answer(operation: ModuleOperation, given: unknown): (() => unknown) | undefined {
    if (operation === 'validatePolicy') return () => this.#validate(given as ValidateRequest);
    if (operation === 'prepareMember') return () => this.#prepare(given as PrepareRequest);
    if (operation === 'makeObjects') return () => this.#objects(given as ObjectsRequest);
    return undefined;
  }

  #validate({ settings, gang }: ValidateRequest): unknown {
    return this.#module.validate(settings, gang && gangOf(gang));
  }

  #prepare({ pod, gang, group, settings }: PrepareRequest): Json {
    return recorded((patch) =>
      this.#module.prepare(
        new ReceivedPod(pod, gang.namespace),
        { gang: gangOf(gang), group, settings },
        patch,
      ),
    );
  }

  #objects({ gang, settings, certificate, subdomain }: ObjectsRequest): unknown {
    return this.#module.objects(gangOf(gang), settings, { certificate: () => certificate, subdomain });
  }
}
