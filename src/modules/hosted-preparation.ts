import type { Json } from '../json/json.ts';
import { ReceivedPod } from '../admission/pod-reader.ts';
import type { HpcGang } from '../preparers/preparation.ts';
import type { PreparationModule } from '../preparers/preparation-module.ts';
import { configure } from './call-plugin.ts';
import { importModule } from './import-module.ts';
import type {
  LoadConfigured,
  ObjectsAsked,
  Operation,
  PrepareGiven,
  SaidHpcGang,
  ValidateGiven,
} from './messages.ts';
import { recorded } from './recorded-patch.ts';

const gangOf = ({ annotations, ...rest }: SaidHpcGang): HpcGang => ({
  ...rest,
  annotations: new Map(annotations),
});

/** The module's side of the wire, of a preparation. */
export class LoadedPreparation {
  readonly #module: PreparationModule;

  private constructor(module: PreparationModule) {
    this.#module = module;
  }

  static async load({ file, field, config }: LoadConfigured): Promise<LoadedPreparation> {
    const module = await importModule('preparation', file, field);
    configure('preparation', module, config);
    return new LoadedPreparation(module);
  }

  /** What it says of itself. */
  get facts(): unknown {
    const { name, contractVersion, patchSurface } = this.#module;
    return { name, contractVersion, patchSurface };
  }

  /** undefined for what is none of a preparation's operations. */
  answer(operation: Operation, given: unknown): (() => unknown) | undefined {
    if (operation === 'validatePolicy') return () => this.#validate(given as ValidateGiven);
    if (operation === 'prepareMember') return () => this.#prepare(given as PrepareGiven);
    if (operation === 'makeObjects') return () => this.#objects(given as ObjectsAsked);
    return undefined;
  }

  #validate({ settings, gang }: ValidateGiven): unknown {
    return this.#module.validate(settings, gang && gangOf(gang));
  }

  #prepare({ pod, gang, group, settings }: PrepareGiven): Json {
    return recorded((patch) =>
      this.#module.prepare(
        new ReceivedPod(pod, gang.namespace),
        { gang: gangOf(gang), group, settings },
        patch,
      ),
    );
  }

  #objects({ gang, settings, certificate, subdomain }: ObjectsAsked): unknown {
    return this.#module.objects(gangOf(gang), settings, { certificate: () => certificate, subdomain });
  }
}
